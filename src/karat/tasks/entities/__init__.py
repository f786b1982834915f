CARDS = ()
