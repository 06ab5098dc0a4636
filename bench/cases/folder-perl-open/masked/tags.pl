use strict;
use warnings;
my $dir = "out/tags";
open my $in, '<', 'tags.txt' or die "tags: tags.txt: $!\n";
while (my $t = <$in>) {
  chomp $t;
  open my $o, '>', "$dir/$t.tag" or next;
  print $o "tag $t\n";
  close $o;
}
