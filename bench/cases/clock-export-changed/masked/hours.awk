# Hours per project of one month. The export of the clock has: day, project, hours.
# Days are shown as 2024-05-31.
BEGIN { FS = "\t" }
$1 == "day" { next }
NF < 3 {
    print "hours.awk: line " NR " is not understood" > "/dev/stderr"
    next
}
{
    hours[$2] += $3
    if ($1 > latest[$2]) latest[$2] = $1
}
END {
    if (bad) exit 2
    for (project in hours) printf "%s %.2f %s\n", project, hours[project], latest[project] | "sort"
}
