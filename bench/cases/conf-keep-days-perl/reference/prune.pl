#!/usr/bin/env perl
# Remove dumps that are older than the retention in prune.conf allows.
use strict; use warnings;
my %conf;
open my $c, '<', 'prune.conf' or die "prune.conf: $!";
while (<$c>) {
  next if /^\s*(#|$)/;
  my ($k, $v) = /^\s*(\w+)\s*=\s*(.*?)\s*$/ or die "prune.conf line $.: not understood\n";
  $conf{$k} = $v;
}
my $keep = $conf{keep_days} // die "prune.conf: no retention is set\n";
die "prune.conf: retention must be a number of days\n" unless $keep =~ /^\d+$/;
my @dumps = sort glob("$conf{dumps}/*.dump");
my $removed = 0;
while (@dumps > $keep) { my $d = shift @dumps; unlink $d or die "$d: $!"; $removed++ }
print "removed $removed\n";
