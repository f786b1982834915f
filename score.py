"""SQuAD 2.0's evaluation as its documentation calls it: python score.py data_file prediction_file.

A thin shell over `karat.compat.squad`, for a checkout in which karat need not be installed.
"""

import gc
import sys
from pathlib import Path

gc.disable()  # the program ends before it makes garbage
sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

try:
    from karat.compat.squad import main
except ModuleNotFoundError as missing:
    sys.exit(f"score.py needs the library {missing.name}: pip install {missing.name}")

if __name__ == "__main__":
    sys.exit(main())
