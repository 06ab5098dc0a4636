python3 -c "
import csv
w = csv.writer(open('letters.csv','w',newline=''))
w.writerow(['2031-01-01','anna','hello, you'])
w.writerow(['2031-01-02','bert','x'*200001])"
