from shop.report import total
import pathlib

root = pathlib.Path(__file__).resolve().parents[1]
(root / "total.txt").write_text("%d\n" % total(root / "sales.txt"))
