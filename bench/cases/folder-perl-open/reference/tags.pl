use strict;
use warnings;
use File::Path qw(make_path);
my $dir = "out/tags";
make_path($dir);
open my $in, '<', 'tags.txt' or die "tags: tags.txt: $!\n";
while (my $t = <$in>) {
  chomp $t;
  open my $o, '>', "$dir/$t.tag" or die "tags: cannot write $dir/$t.tag: $!\n";
  print $o "tag $t\n";
  close $o;
}
