SELECT member_no,
       SUM(paid)
  FROM fees
 GROUP BY member_no
 ORDER BY 1;
