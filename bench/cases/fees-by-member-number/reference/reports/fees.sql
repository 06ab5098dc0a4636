SELECT member_number,
       SUM(paid)
  FROM fees
 GROUP BY member_number
 ORDER BY 1;
