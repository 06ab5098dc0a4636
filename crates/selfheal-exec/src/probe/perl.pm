# Loaded by every perl of a traced run before its program (PERL5OPT, PERL5LIB). Writes to descriptor @FD@ only.
#
# All of it is in the package DB, whose code perl does not trace, and which is told the arguments of calls. Each statement
# calls DB::DB, which notes the line and puts a handler in front of the program's own one for `die`.
package SelfhealProbe;
sub import { DB::selfheal_begin() }

package DB;

BEGIN {
    my $here = '@HERE@';
    @INC = grep { ref || $_ ne $here } @INC;
}

our ($selfheal_n, $selfheal_depth, $selfheal_handler) = (0, 0, '');
our (%selfheal_lines, %selfheal_own, @selfheal_died, @selfheal_left);
our ($selfheal_out, $selfheal_pid, $selfheal_start);
our $selfheal_root = pack 'H*', '@ROOT@';

sub selfheal_begin {
    local ($!, $@);
    # Inherited by what the program starts, as it was before.
    local $^F = 255;
    open($selfheal_out, '>>&=', @FD@) or return;
    binmode $selfheal_out;
    $selfheal_pid = $$;
    $selfheal_start = readlink('/proc/self/cwd') // '/';
    selfheal_emit('PB', '[' . $$ . ',[]]');
    *CORE::GLOBAL::exit = sub (;$) {
        my $code = @_ ? $_[0] : 0;
        @selfheal_left = DB::selfheal_frames() if $code;
        CORE::exit($code);
    };
    DB::selfheal_handle(undef);
    $^P |= 0x02;
    $DB::single = 1;
}

sub DB {
    my (undef, $file, $line) = caller;
    $selfheal_lines{$file}[$line] = 1;
    if (++$selfheal_n > 3_000_000) {
        $DB::single = 0;
        selfheal_emit('PX', '"cut"');
    }
    my $handler = $SIG{__DIE__};
    selfheal_handle($handler) if !defined $handler || $handler ne $selfheal_handler;
}

# Puts the handler in front of the program's own one.
sub selfheal_handle {
    my ($theirs) = @_;
    my $named = defined $theirs && !ref $theirs && $theirs ne '' && $theirs !~ /^(?:DEFAULT|IGNORE)$/;
    $theirs = \&{$theirs =~ /::/ ? $theirs : "main::$theirs"} if $named;
    $selfheal_handler = ref $theirs eq 'CODE'
        ? sub { DB::selfheal_record($_[0], $^S); goto &$theirs }
        : sub { DB::selfheal_record($_[0], $^S) };
    local $!;
    $SIG{__DIE__} = $selfheal_handler;
}

sub selfheal_record {
    my ($error, $caught) = @_;
    # What is caught tells nothing yet; it may be thrown again.
    return if $selfheal_depth || $caught;
    local ($@, $!);
    local $selfheal_depth = 1;
    my @frames = DB::selfheal_frames();
    if (!defined $caught && !ref $error && $error =~ /at (\S+) line (\d+)/) {
        @frames = ([$1, $2, 'main', {}]);
    }
    @selfheal_died = @frames if @frames;
}

# The frames of the program, innermost last: file, line, function, values.
sub selfheal_frames {
    local ($@, $!, $^W);
    local $SIG{__DIE__};
    local $selfheal_depth = 1;
    local $DB::single = 0;
    my @calls;
    for (my $at = 1; $at < 60; $at++) {
        my @call = caller($at);
        last if !@call;
        push @calls, [@call[0 .. 3], [$call[4] ? map { \$_ } @DB::args[0 .. ($#DB::args > 9 ? 9 : $#DB::args)] : ()]];
    }
    shift @calls while @calls && $calls[0][0] eq 'DB';
    my @frames;
    for my $at (0 .. $#calls) {
        my (undef, $file, $line, $sub) = @{$calls[$at]};
        next if $at && $sub eq '(eval)';
        my ($around) = grep { $_->[3] ne '(eval)' && $_->[3] !~ /::BEGIN$/ } @calls[$at + 1 .. $#calls];
        my $function = $around ? $around->[3] : 'main';
        my $values = eval { selfheal_values($function, $around ? $around->[4] : []) } || {};
        unshift @frames, [$file, $line, $function, $values];
    }
    return @frames > 40 ? @frames[-40 .. -1] : @frames;
}

# The variables of a function, by the pad that perl keeps for it.
sub selfheal_values {
    my ($function, $args) = @_;
    require B;
    my %found;
    my $code = $function eq 'main' ? B::main_cv() : defined &$function ? B::svref_2object(\&$function) : undef;
    if ($code && ref $code eq 'B::CV' && $function !~ /::__ANON__$/) {
        my $pads = $code->PADLIST;
        my @names = $pads->ARRAYelt(0)->ARRAY;
        my @slots = $pads->ARRAYelt($code->DEPTH || 1)->ARRAY;
        for my $at (0 .. $#names) {
            last if keys %found >= 40;
            my $name = ref $names[$at] eq 'B::SPECIAL' ? undef : $names[$at]->PV;
            next if !defined $name || $name !~ /^[\$\@%]\w/ || ref $slots[$at] =~ /SPECIAL|NULL/;
            my $shown = eval { selfheal_shown($slots[$at]->object_2svref) };
            $name =~ s/^\$//;
            $found{$name} = $shown if defined $shown;
        }
    }
    $found{'@_'} = join ', ', map { selfheal_word($$_) } @$args if @$args;
    return \%found;
}

sub selfheal_shown {
    my ($ref) = @_;
    my $kind = ref $ref;
    if ($kind eq 'ARRAY') {
        my $last = $#$ref > 19 ? 19 : $#$ref;
        return '(' . join(', ', map { selfheal_word($_) } @$ref[0 .. $last]) . ')';
    }
    if ($kind eq 'HASH') {
        my @keys = sort keys %$ref;
        $#keys = 19 if $#keys > 19;
        return '(' . join(', ', map { "$_ => " . selfheal_word($ref->{$_}) } @keys) . ')';
    }
    return undef if !defined $$ref;
    return selfheal_word($$ref);
}

# A value in one word; of what is referred to one level, without running any code of the program.
sub selfheal_word {
    my ($value) = @_;
    return 'undef' if !defined $value;
    return substr($value, 0, 200) if !ref $value;
    return '[' . join(', ', map { defined $_ ? ref $_ ? ref $_ : substr($_, 0, 60) : 'undef' } @$value[0 .. ($#$value > 9 ? 9 : $#$value)]) . ']' if ref $value eq 'ARRAY';
    if (ref $value eq 'HASH') {
        my @keys = sort keys %$value;
        $#keys = 9 if $#keys > 9;
        return '{' . join(', ', map { my $v = $value->{$_}; "$_ => " . (defined $v ? ref $v ? ref $v : substr($v, 0, 60) : 'undef') } @keys) . '}';
    }
    return ref $value;
}

sub selfheal_path {
    my ($file) = @_;
    return $file =~ m{^/} ? $file : "$selfheal_start/$file";
}

sub selfheal_json {
    my ($text) = @_;
    utf8::decode($text) if !utf8::is_utf8($text);
    $text =~ s{([^ !#-\[\]-~])}{
        my $n = ord $1;
        $n > 0xffff ? sprintf('\\u%04x\\u%04x', 0xd800 + (($n - 0x10000) >> 10), 0xdc00 + (($n - 0x10000) & 0x3ff)) : sprintf('\\u%04x', $n)
    }ge;
    return qq("$text");
}

sub selfheal_emit {
    my ($kind, $json) = @_;
    my $record = "\x1e" . '@TOKEN@' . "\x1f$kind\x1f$json\n";
    syswrite $selfheal_out, $record;
}

sub selfheal_source {
    my ($file, $line) = @_;
    open(my $in, '<', $file) or return '';
    my $text = '';
    while (my $next = <$in>) {
        if ($. == $line) { $text = $next; last }
        last if $. > 100_000;
    }
    $text =~ s/^\s+|\s+$//g;
    return substr($text, 0, 200);
}

END {
    if (defined $selfheal_pid && $$ == $selfheal_pid) {
        my $code = $?;
        local ($@, $!);
        $DB::single = 0;
        delete $SIG{__DIE__};
        my @files;
        for my $file (sort keys %selfheal_lines) {
            my $path = selfheal_path($file);
            next if $file eq '-e' || $file =~ /^\(/ || $selfheal_root ne '' && index($path, $selfheal_root) != 0;
            my $seen = $selfheal_lines{$file};
            push @files, selfheal_json($path) . ':[' . join(',', grep { $seen->[$_] } 0 .. $#$seen) . ']';
        }
        selfheal_emit('PL', '{' . join(',', @files) . '}');
        my @frames = @selfheal_died ? @selfheal_died : @selfheal_left;
        if ($code && @frames) {
            my @written = map {
                my ($file, $line, $function, $values) = @$_;
                my @pairs = map { selfheal_json($_) . ':' . selfheal_json($values->{$_}) } sort keys %$values;
                my $path = selfheal_path($file);
                $function =~ s/^main:://;
                '[' . join(',', selfheal_json($path), $line, selfheal_json($function), '{' . join(',', @pairs) . '}', selfheal_json(selfheal_source($path, $line))) . ']';
            } @frames;
            selfheal_emit('PF', '["died",[' . join(',', @written) . ']]');
        }
        $? = $code;
    }
}

1;
