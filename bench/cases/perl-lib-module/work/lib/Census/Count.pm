package Census::Count;
use strict;
use Exporter 'import';
our @EXPORT_OK = ('count');
sub count { my %n; open my $f, '<', $_[0] or die "census: $_[0]: $!\n"; while (<$f>) { chomp; $n{$_}++ } return %n; }
1;
