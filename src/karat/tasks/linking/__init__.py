"""Entity linking and coreference."""

from __future__ import annotations

from functools import partial

from karat.model.task import Card, Converter, Official, Option
from karat.tasks.linking.layouts import is_convertible, recognise

OPTIONS = (
    Option(
        "measure",
        "a measure, a group of measures, or AGGREGATE:FILTER:FIELDS; repeatable",
        many=True,
        short="m",
        signature=False,
    ),
    Option(
        "group_by", "score each value of a field apart, with micro and macro averages", many=True
    ),
    Option(
        "type_weights", "partial credit for pairs of types: gold TAB system TAB weight", kind="path"
    ),
    Option(
        "exclude_spans", "leave out mentions in these zones: docid TAB start TAB end", kind="path"
    ),
    Option("titles", "table of titles and their redirects, by which ids are made one", kind="path"),
    Option("tac_year", "year of the TAC data; in 2011 ends are one past the mention", kind="int"),
    Option(
        "with_kb", "CoNLL coreference: ids are of a knowledge base unless they are NIL", kind="flag"
    ),
    Option("cross_doc", "CoNLL coreference: ids mean the same in all documents", kind="flag"),
    Option(
        "texts", "folder of DOCID.txt, to show mentions in their text", kind="path", signature=False
    ),
)

FORMATS = {
    "neleval": ("tsv", "the annotation table"),
    "tac2014": ("tac", "TAC 2009 to 2014: queries.xml and links.tab"),
    "tac2015": ("edl", "the table of TAC 2015 on"),
    "brat-links": ("brat", "a brat folder with references to a knowledge base"),
    "conll-coref": ("coref", "coreference columns of CoNLL-2011 and 2012; offsets are tokens"),
    "aida": ("aida", "AIDA-CoNLL; offsets are tokens"),
}
"""Name in `karat convert` -> its layout, and what it is."""

CONVERTERS = tuple(
    Converter(
        source,
        target,
        f"{__name__}.convert",
        "convert",
        f"to {FORMATS[target][1]}",
        partial(is_convertible, layout),
    )
    for source, (layout, _) in FORMATS.items()
    for target in FORMATS
    if source != target
)

CARDS = (
    Card(
        name="entity-linking",
        title="Entity linking and coreference",
        summary="mentions, their entities in a knowledge base, and the clusters they make",
        item="mention",
        layout=(
            "docid TAB start TAB end TAB entity TAB score TAB type   a mention a line\n"
            "also TAC 2009-2014 (queries.xml,links.tab), TAC 2015, brat folders,\n"
            "CoNLL coreference columns, AIDA-CoNLL"
        ),
        recognise=recognise,
        module="karat.tasks.linking.task",
        options=OPTIONS,
        computed={
            "docid": "the document",
            "type": "type of the best candidate",
            "eid": "id of the best candidate",
            "kbid": "the same, missing for NIL",
            "is_nil": "whether the best candidate is a NIL",
            "is_linked": "whether the best candidate is in the knowledge base",
            "is_first": "whether it is the entity's first mention in its document",
        },
        official=Official("neleval", "3.1.1", "equal as doubles; sums of reals to 1e-12"),
        sample=("entity-linking", "gold.tsv", "predictions.tsv", "--by", "type"),
        converters=CONVERTERS,
        open_items=True,
        several=("gold", "predictions"),
    ),
)
