declare -A role
role[ann]=admin
role[bob]=reader
function show { echo "$1=${role[$1]}"; }
for who in "$@" ann bob; do show "$who"; done > roles.out
