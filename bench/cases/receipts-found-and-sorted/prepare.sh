mkdir receipts; echo 1 > receipts/a.txt; echo 123 > 'receipts/b c.txt'
