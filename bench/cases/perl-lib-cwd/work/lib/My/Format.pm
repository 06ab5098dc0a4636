package My::Format;
use strict;
sub line { my ($k, $v) = @_; return "$k: $v\n" }
1;
