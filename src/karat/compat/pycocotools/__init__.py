"""COCO and COCOeval for boxes, as training code uses them: a switch of one import.

`from karat.compat.pycocotools import COCO, COCOeval` gives the same arrays, the same `evalImgs` and
the same printed summary; `coco` and `cocoeval` are modules here as they are there. Masks and
keypoints are refused, an annotation of id 0 counts like any other, and what the original scores
without a word is said with a warning.
"""

from karat.compat.pycocotools.coco import COCO
from karat.compat.pycocotools.cocoeval import COCOeval, Params

__all__ = ["COCO", "COCOeval", "Params"]
