"""The words that the built-in samples are made of. Invented: no person, firm or place is meant."""

from __future__ import annotations

CLASSES = ("delivery", "return", "product", "thanks")
CHANNELS = ("chat", "email", "phone")

GOODS = {
    "en": ("desk lamp", "rain jacket", "coffee grinder", "bicycle pump", "wool blanket", "kettle",
           "bookshelf", "garden hose", "alarm clock", "picture frame", "hand mixer", "door mat"),
    "de": ("die Schreibtischlampe", "die Regenjacke", "die Kaffeemühle", "die Luftpumpe",
           "die Wolldecke", "der Wasserkocher", "das Bücherregal", "der Wecker"),
}  # fmt: skip

DAYS = {
    "en": ("Monday", "Tuesday", "last Friday", "the weekend", "the 3rd", "yesterday"),
    "de": ("Montag", "Dienstag", "Freitag", "dem Wochenende", "dem 3.", "gestern"),
}

# One list per class, in the order of CLASSES.
MESSAGES = {
    "en": (
        ("Where is my {good}? It was promised for {day}.",
         "The tracking page has not moved since {day}.",
         "Can you send the {good} to my office instead of my flat?",
         "Your courier rang next door and left again with the {good}.",
         "Is it possible to get the {good} before {day}?",
         "Only one of two parcels came, the {good} is still on its way."),
        ("I would like to send back the {good}, it is too large for us.",
         "Please cancel the {good}, I found it in a shop near by.",
         "The refund for the {good} has not arrived since {day}.",
         "How do I print the label to return my {good}?",
         "The {good} came with a crack, I want my money back.",
         "Can I swap the {good} for the smaller one?"),
        ("Does the {good} come with a spare part?",
         "Which size of {good} fits a small kitchen?",
         "The {good} stopped working on {day}, is there a reset button?",
         "How do I clean the {good} without scratching it?",
         "Is the {good} safe for children?",
         "The manual of the {good} has no page about batteries."),
        ("Thank you, the {good} is even nicer than in the picture.",
         "The {good} arrived on {day} and works well, great service.",
         "I just wanted to say that your colleague on {day} was very kind.",
         "We use the {good} every morning and love it.",
         "Everything fine with the {good} now, problem solved.",
         "Best {good} I have had so far, I will tell my friends."),
    ),
    "de": (
        ("Wo bleibt {good}? Zugesagt war es für {day}.",
         "Die Sendungsverfolgung steht seit {day} still.",
         "Kann {good} bitte ins Büro geliefert werden?",
         "Der Bote hat {good} einfach vor die Tür gestellt."),
        ("Ich möchte zurückgeben, was kam: {good} ist zu groß.",
         "Die Erstattung fehlt seit {day}, es ging um {good}.",
         "Wo finde ich den Aufkleber für die Rücksendung?",
         "Bitte stornieren Sie die Bestellung, {good} brauche ich nicht mehr."),
        ("Ist bei der Lieferung ein Ersatzteil dabei? Es geht um {good}.",
         "Seit {day} läuft nichts mehr: {good} geht einfach nicht an.",
         "Wie reinige ich das am besten? Gemeint ist {good}.",
         "Passt das auch in eine kleine Küche? Ich meine {good}."),
        ("Danke, {good} ist noch schöner als auf dem Bild.",
         "Alles bestens, seit {day} in Gebrauch und sehr zufrieden.",
         "Ein Lob an Ihre Kollegin von {day}, sie war sehr freundlich.",
         "Jetzt passt alles, {good} gefällt uns sehr."),
    ),
}  # fmt: skip

OPENINGS = {
    "chat": ("", "", "hi, ", "hello! ", "quick question: "),
    "email": ("Good morning, ", "Dear team, ", "", "Hello, "),
    "phone": ("uh ", "yes hello um ", "so, ", "right, well, "),
}
CLOSINGS = {
    "chat": ("", "", " :)", " thx", " Any idea?"),
    "email": (" Kind regards", " Many thanks in advance.", "", " Please let me know."),
    "phone": (" you know", " if that makes sense", "", " is that all right"),
}

# ---- inference: (premise, entailed, neutral, contradicted) ------------------------------------

WHO = ("A baker", "Two neighbours", "The older girl", "A man in a green coat", "Three students",
       "My aunt", "The new driver", "A woman with a cello", "The twins", "Our guide")  # fmt: skip
SCENES = (
    ("{who} carried a ladder through {place} before the rain began.",
     "There was a ladder in {place}.",
     "The ladder was needed to mend a roof.",
     "Nobody came to {place} that day."),
    ("{who} waited in {place} for almost an hour without a phone.",
     "Somebody waited in {place}.",
     "The bus was late because of snow.",
     "The wait in {place} took less than a minute."),
    ("{who} sold apples and honey in {place} every Saturday.",
     "Honey could be bought in {place}.",
     "The honey was the best of the region.",
     "Nothing was ever sold in {place}."),
    ("{who} sang so loudly in {place} that the windows shook.",
     "There was singing in {place}.",
     "The song was about the sea.",
     "It was completely silent in {place}."),
    ("{who} painted the wall of {place} blue and left the door white.",
     "The wall of {place} is blue now.",
     "The door will be painted next week.",
     "The wall of {place} was left as it had been."),
    ("{who} found a small dog asleep under a bench in {place}.",
     "There was an animal in {place}.",
     "The dog belonged to the gardener.",
     "The bench in {place} had nothing under it."),
    ("{who} missed the last train and walked home from {place}.",
     "The last train left without them.",
     "It was a warm evening in {place}.",
     "They went home from {place} by train."),
)  # fmt: skip
PLACES = ("the market hall", "the old harbour", "the library", "the school yard", "the station",
          "the court yard", "the village square", "the greenhouse")  # fmt: skip
GENRES = ("letters", "novel", "telephone", "travel")

FRUIT = ("apple", "pear", "plum", "quince", "apricot")
CAMERAS = ("A", "B", "C")
