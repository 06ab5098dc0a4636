//! Commands that are dangerous by their words, as a table.
//!
//! A row is `names: condition & condition …`. A condition is a list of alternatives, of which one must be among the
//! arguments; `!` before it says that none may be. `*` at either end stands for any text, `-[x]` for a cluster of short
//! options that holds the letter, `@word` for an operand (no option) among the first four. Letters of `@` words may be of
//! any case. The rows come from the manual pages of the tools.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use selfheal_core::admission::Danger;
use selfheal_core::admission::Danger::{High, Medium};

/// A class of rows.
pub struct Class {
    /// The name of the rule.
    pub rule: &'static str,
    /// Why, read after the command.
    pub why: &'static str,
    /// How dangerous.
    pub danger: Danger,
    /// The rows.
    pub rows: &'static [&'static str],
}

/// The table. The first class that fits decides unless a later one is more dangerous.
pub const CLASSES: &[Class] = &[
    Class {
        rule: "danger/device",
        why: "destroys or changes devices, volumes or mounts",
        danger: High,
        rows: &[
            "mkfs|mkfs.*|mke2fs|mkswap|wipefs|blkdiscard|sgdisk|gdisk|cfdisk|lvremove|vgremove|pvremove|lvreduce|vgreduce|pvcreate|vgcreate|swapoff|swapon|tune2fs|resize2fs|sg_format|flashrom|dmraid|mkntfs|debugfs|fsfreeze|umount|pivot_root|partprobe|badblocks:",
            "parted: !print|-l|--list",
            "fdisk|sfdisk: !-l|--list|-d|--dump|-[l]",
            "hdparm: --security*|--trim*|--format*|--write*|--make-bad-sector|--dco*|--user-master",
            "zpool: @destroy|@labelclear|@remove|@export|@offline|@detach|@create|@add",
            "zfs: @destroy|@rollback|@rename|@promote|@unmount",
            "btrfs: @delete|@device|@balance|@replace",
            "cryptsetup: @luksformat|@erase|@luksErase|@luksRemoveKey|@luksKillSlot|@reencrypt|luks*",
            "mdadm: --zero-superblock|--stop|--remove|-[S]|--fail|--create|-[C]",
            "dmsetup: @remove*|@wipe_table|@clear",
            "nvme: @format|@sanitize|@write*|@delete-ns",
            "mount: !-l|--version & *",
            "fsck|fsck.*|e2fsck: -[y]|-[f]|-[p]",
            "losetup: -[d]|-[D]|--detach*",
            "mkisofs|growisofs: -*dev*",
        ],
    },
    Class {
        rule: "danger/git-history",
        why: "rewrites or deletes history that no snapshot covers, or makes git run a program",
        danger: High,
        rows: &[
            "git: @push & -[f]|--force*|--delete|-[d]|--mirror|--prune|+*|:*",
            "git: @reflog & @expire|@delete",
            "git: @gc & --prune*|--aggressive",
            "git: @filter-branch|@filter-repo|@prune|@update-ref|@replace",
            "git: @config & --global|--system",
            "git: @config & *.hookspath|*.hooksPath|*.fsmonitor|*.sshCommand|*.pager|*.editor|alias.*|filter.*|diff.external|credential.*|core.sshcommand|*.gitproxy|*.askpass|url.*|http.*|*.textconv|*.command|*.driver",
            "git: core.pager=*|core.fsmonitor=*|core.sshCommand=*|core.sshcommand=*|core.editor=*|core.hooksPath=*|core.hookspath=*|alias.*=*|diff.external=*|credential.*=*|core.askPass=*|pager.*=*|sequence.editor=*|core.gitProxy=*|protocol.ext.allow=*|filter.*=*|*.textconv=*|gpg.program=*|uploadpack.*=*",
            "git: --upload-pack=*|--receive-pack=*|--exec=*|ext::*|--open-files-in-pager=*",
            "git: @bisect & @run",
            "git: @rebase & -[x]|--exec*",
            "git: @submodule & @foreach",
            "gh: @delete|@archive|@transfer",
            "gh: @api & DELETE|-XDELETE|PUT|POST|PATCH",
            "glab: @delete",
            "bfg: *",
            "svn: @delete & *://*",
            "hg: @strip|@push & -[f]|--force",
        ],
    },
    Class {
        rule: "danger/git-local",
        why: "drops local changes of a repository, or publishes some",
        danger: Medium,
        rows: &[
            "git: @clean & -[f]|--force & !-[n]|--dry-run",
            "git: @reset & --hard|--merge|--keep",
            "git: @checkout & --|.|-[f]|--force",
            "git: @restore & !--staged|-S",
            "git: @restore & --worktree|-W|-[W]",
            "git: @branch & -[D]|-[d]|--delete|-[M]",
            "git: @stash & @clear|@drop|@pop",
            "git: @rebase|@push|@am|@merge|@pull|@cherry-pick|@revert|@rm|@mv",
            "git: @tag & -[d]|-[f]|--delete",
            "git: @remote & @set-url|@remove|@rm|@add|@rename",
            "git: @worktree & @remove|@prune",
            "git: @commit & --amend",
            "git: @submodule & @deinit|@update",
            "git: @config & *",
        ],
    },
    Class {
        rule: "danger/containers",
        why: "destroys containers, volumes or images",
        danger: High,
        rows: &[
            "docker|podman|nerdctl: @prune",
            "podman|docker: @system & @reset|@migrate|@prune",
            "docker|podman|nerdctl: @volume & @rm|@remove",
            "docker|podman|nerdctl: @rm|@rmi|@kill & *",
            "docker|podman|nerdctl: @container|@image|@network|@context|@secret|@config & @rm|@remove|@kill",
            "docker|podman|nerdctl|docker-compose|podman-compose: @down & -[v]|--volumes|--rmi*",
            "docker-compose|podman-compose: @rm",
            "docker|podman: @swarm|@stack|@service|@node & @leave|@rm|@remove|@scale|@demote",
            "docker|podman|nerdctl: @push|@login",
            "docker|podman|nerdctl: @run|@create|@exec & --privileged|--pid=host|--net=host|--network=host|--cap-add*|/:*|-v/:*|--volume=/:*|*docker.sock*|type=bind,*source=/,*|type=bind,*src=/,*|--device*|--ipc=host|--userns=host|/etc:*|/root:*|/home:*|/var:*|/usr:*|/dev:*|--security-opt*",
            "ctr|crictl: @rm|@rmi|@rmp|@delete|@remove",
            "lxc|lxc-destroy|incus: @delete|@stop",
            "lxc-destroy|virsh|qm|pct|vboxmanage|VBoxManage: @destroy|@undefine|@unregistervm|@shutdown|@vol-delete|*",
            "docker|podman|nerdctl: @import|@load|@plugin",
        ],
    },
    Class {
        rule: "danger/containers-forward",
        why: "starts or changes containers",
        danger: Medium,
        rows: &[
            "docker|podman|nerdctl|docker-compose|podman-compose: @up|@build|@start|@stop|@restart|@down|@exec|@run|@create|@pull|@compose & !@ps|@logs|@config|@ls|@images|@version|@port|@top",
        ],
    },
    Class {
        rule: "danger/cluster",
        why: "destroys or changes the state of a cluster",
        danger: High,
        rows: &[
            "kubectl|oc|k3s|microk8s: @delete|@drain|@cordon|@taint|@evict",
            "kubectl|oc: @scale & --replicas=0|0",
            "kubectl|oc: @replace & --force",
            "kubectl|oc: @get & @secret|@secrets|secret/*|secrets/*|all,secrets",
            "kubectl|oc: @config & @delete*|@unset|@view & --raw|*",
            "kubectl: @apply & --prune*",
            "helm: @uninstall|@delete|@rollback|@del|@push",
            "flux: @suspend|@delete|@uninstall",
            "argocd: @delete|@logout",
            "istioctl: @uninstall",
            "kubeadm: @reset",
            "kops|eksctl|kind|minikube|k3d: @delete",
            "nomad: @stop|@purge|-purge",
            "consul: @delete|@leave",
            "velero: @delete",
        ],
    },
    Class {
        rule: "danger/cluster-forward",
        why: "changes the state of a cluster",
        danger: Medium,
        rows: &[
            "kubectl|oc: @apply|@create|@patch|@edit|@rollout|@exec|@run|@set|@label|@annotate|@scale|@replace|@expose|@cp|@autoscale",
            "helm: @install|@upgrade",
            "flux: @reconcile|@resume|@create",
        ],
    },
    Class {
        rule: "danger/cloud",
        why: "deletes or rewrites resources of another host or service",
        danger: High,
        rows: &[
            "aws: @s3 & @rm|@rb|@mv",
            "aws: @s3 & --delete",
            "aws: delete-*|terminate-*|deregister-*|remove-*|destroy-*|purge-*|stop-*|revoke-*|disable-*|detach-*|cancel-*|put-*|modify-*|update-*|create-*|attach-*|reboot-*|release-*|schedule-key-deletion|get-secret-value|get-parameter*|export-*|batch-delete*|reset-*|restore-*",
            "gcloud: @delete|@destroy|@remove-iam-policy-binding|@stop|@reset|@disable|@purge|@access",
            "gsutil|gcloud: @rm|@rb|-d",
            "bq: @rm|-[f]",
            "az: @delete|@purge|@deallocate|@stop|@remove|@delete-batch",
            "doctl|linode-cli|hcloud|scw|ibmcloud|oci|exo|flyctl|fly|heroku|vercel|netlify|wrangler|railway|render: @delete|@destroy|@remove|@rm|@terminate|*:destroy|*:delete|*:reset",
            "terraform|tofu|terragrunt: @destroy|-destroy|@taint|@force-unlock|@run-all",
            "terraform|tofu: @state & @rm|@mv|@push",
            "terraform|tofu|terragrunt: @apply & -auto-approve|--auto-approve",
            "pulumi: @destroy|@rm|@cancel|@up",
            "cdk|sls|serverless|sam|copilot|eb: @destroy|@remove|@delete|@terminate",
            "vagrant: @destroy|@halt",
            "packer: -force",
            "ansible|ansible-playbook|salt|salt-call|chef-client|puppet|pdsh|pssh|clush|dsh|fab: !--check|--list-*|--syntax-check|-[C]|--version",
            "rclone: @purge|@delete|@deletefile|@sync|@cleanup|@rmdirs|@rmdir|@move|@moveto",
            "s3cmd: @del|@rb|@rm|--delete-removed",
            "mc: @rm|@rb|@mirror",
            "b2: @delete*|@sync",
            "restic: @forget|@prune|@rewrite|@key",
            "borg: @delete|@prune|@compact|@recreate",
            "duplicity: @remove*|@cleanup",
            "kopia: @delete|@expire",
            "rsnapshot: *",
            "bacula|bconsole: *",
            "snapper: @delete|@rollback|@undochange",
            "timeshift: --delete*|--restore",
            "certbot: @delete|@revoke",
            "vault: @delete|@destroy|@read|@kv|@token|@operator|@write|@seal",
            "consul: @kv",
        ],
    },
    Class {
        rule: "danger/cloud-forward",
        why: "changes a remote store or service",
        danger: Medium,
        rows: &[
            "aws: @s3 & @cp|@sync|@mb",
            "gsutil: @cp|@rsync|@mb|@mv",
            "terraform|tofu|terragrunt: @apply|@import",
            "rclone: @copy|@copyto|@mkdir",
            "restic|borg: @backup|@create|@init",
            "s3cmd: @put|@sync",
            "gcloud|az: @create|@deploy|@update",
        ],
    },
    Class {
        rule: "danger/database",
        why: "destroys data in a database",
        danger: High,
        rows: &[
            "dropdb|dropuser|mysqladmin|pg_dropcluster|pg_resetwal|initdb|pg_ctl|createuser: !status|ping|version|processlist|--version",
            "redis-cli|valkey-cli|keydb-cli: @flushall|@flushdb|@del|@unlink|@config|@shutdown|@debug|@eval|@rename|@expire|@set|@slaveof|@replicaof|@script|@migrate|@restore|@bgrewriteaof|@cluster|@swapdb|@hdel|@ltrim",
            "mongo|mongosh: *drop*|*deleteMany*|*deleteOne*|*remove(*|*shutdown*|*renameCollection*|*updateMany*",
            "mongorestore|mongoimport: --drop|--mode=delete|delete",
            "pg_restore: --clean|-[c]|--create|-[C]",
            "mysqlimport|mariadb-import: --delete|-[d]|-[D]|--replace|-[r]",
            "pgbackrest: @restore|@expire|@stanza-delete|@stop",
            "barman|wal-g|wal-e: @delete*|@recover|@backup-fetch|@restore*",
            "neo4j-admin: @load|@restore & --force|--overwrite*",
            "neo4j-admin: @delete*",
            "influxd|influx: @restore & --full|-full",
            "arangorestore|cbrestore|cbbackupmgr: --overwrite*|--clear*|@remove|@restore",
            "couchbase-cli: *-delete|*-flush",
            "kafka-storage|kafka-storage.sh: @format",
            "sqlite3: .restore*",
            "bq: @load & --replace*",
            "mysql_install_db|mariadb-install-db|pg_rewind|pg_upgrade|slapadd: !--help|--version|--check|-[c]",
            "influx: @delete",
            "influx: *DROP*|*drop*",
            "etcdctl|etcdutl: @del|@rm|@defrag|@compact|@restore|@member",
            "kafka-topics|kafka-topics.sh|kafka-consumer-groups|kafka-consumer-groups.sh|kafka-configs|kafka-configs.sh|kafka-delete-records.sh|kafka-delete-records|kafka-acls.sh: --delete*|--reset-offsets|--alter|--offset-json-file",
            "rabbitmqctl|rabbitmqadmin: @delete*|@reset|@force_reset|@purge*|@stop*|@forget*|delete*|purge*",
            "alembic: @downgrade",
            "rake|rails|bundle|bin/rails: db:drop*|db:reset*|db:schema:load|db:purge*|db:rollback|db:migrate:reset|db:truncate*|*:drop|*:reset",
            "python|python3|manage.py|django-admin: @flush|@sqlflush|@reset_db|@zero",
            "prisma|npx: @reset|--force-reset|--accept-data-loss",
            "flyway: @clean|@undo|@repair",
            "liquibase: @drop-all|@dropAll|@rollback*",
            "knex|sequelize|typeorm|npx: *:undo*|*rollback*|*schema:drop*|*db:drop*",
            "artisan|php: migrate:fresh|migrate:reset|migrate:rollback|db:wipe|migrate:refresh",
            "nodetool: @removenode|@decommission|@clearsnapshot|@drain|@assassinate",
            "clickhouse-client|cockroach|cqlsh: *DROP*|*drop*|*TRUNCATE*|*truncate*|*DELETE*",
            "dynamodb: @delete*",
            "ldapdelete|ldapmodify: *",
            "zkCli.sh: @delete*|@rmr|@deleteall",
            "curator|curator_cli: @delete*",
            "hdfs|hadoop: -rm|-rmr|-expunge|-rmdir|-delete*|-format",
            "hbase: *",
            "sqoop: *",
            "nova|openstack: @delete",
            "migrate: @drop|@down",
            "goose|dbmate: @down|@drop|@reset|@rollback",
        ],
    },
    Class {
        rule: "danger/system",
        why: "changes the state of the system: schedule, firewall, services, accounts, kernel",
        danger: High,
        rows: &[
            "crontab: !-[l]|--help",
            "at|batch: !-[l]|-[V]",
            "atrm|anacron: *",
            "iptables|ip6tables|ebtables|arptables: !-[L]|-[S]|--list*|-[C]|--version",
            "iptables-restore|ip6tables-restore|nft-restore:",
            "nft: @flush|@delete|@add|@insert|@replace|@destroy|-f",
            "ufw: !status|version|show",
            "firewall-cmd: !--state|--list*|--get*|--query*",
            "ip: @flush|@del|@delete|@down|@add|@replace|@change|@set",
            "ifconfig: @down|@up|@netmask|@hw",
            "ifdown|ifup|wg-quick|brctl|tc|ethtool|iw|rfkill: !show|-s",
            "nmcli: @off|@down|@delete|@modify|@disconnect|@add|@reload",
            "route: @add|@del",
            "networksetup|scutil|pfctl: *",
            "resolvectl|systemd-resolve: @dns|@domain|@revert",
            "systemctl: @stop|@disable|@mask|@isolate|@poweroff|@reboot|@halt|@kill|@set-default|@emergency|@rescue|@suspend|@hibernate|@exit|@edit|@revert|@set-property|@daemon-reexec|@unmask|@link|@reset-failed|@kexec|@switch-root|@default|@import-environment|@set-environment|@soft-reboot|@enable",
            "service|rc-service|initctl|sv|supervisorctl|svc|launchctl|monit|pm2: @stop|@disable|@kill|@unload|@remove|@delete|@shutdown|@down|@bootout|@restart|@unmonitor",
            "invoke-rc.d|update-rc.d|chkconfig|rc-update|systemd-run: *",
            "init|telinit: @0|@1|@6|@s|@q",
            "shutdown|reboot|halt|poweroff|kexec:",
            "sysctl: -[w]|-[p]|--write|--load*|--system|*=*",
            "insmod|rmmod|depmod|kmod: *",
            "modprobe: !-[n]|--show*|--dry-run|-[D]",
            "hostnamectl: @set*|@hostname & *",
            "timedatectl: @set*",
            "localectl: @set*",
            "hostname: @*",
            "date: -[s]|--set*",
            "hwclock|ntpdate|chronyc: *",
            "userdel|deluser|useradd|adduser|usermod|groupadd|groupdel|groupmod|delgroup|addgroup|gpasswd|passwd|chpasswd|newusers|chsh|chfn|visudo|vipw|vigr|chage|pwconv|pwunconv|faillock|pam-auth-update|authconfig|authselect: !--help|--version|-[S]|--status|-[l]",
            "pkill|killall|killall5|skill|slay|xkill: !-0|-[l]|--list",
            "fuser: -[k]|--kill",
            "renice|ionice|chrt|taskset: -*p*",
            "setenforce|setsebool|semanage|restorecon|auditctl|aa-disable|aa-complain|apparmor_parser|semodule|getcap|setcap|capsh|usermod: *",
            "journalctl: --vacuum*|--rotate|--flush",
            "loginctl: @terminate*|@kill*|@enable-linger|@lock*",
            "update-grub|grub-install|grub2-install|update-initramfs|dracut|efibootmgr|bootctl|grubby|mkinitcpio|installkernel: *",
            "xhost: +*",
            "update-alternatives|dpkg-divert|dpkg-statoverride|alternatives: --set|--remove*|--install|--add|--config|--auto",
            "setterm|stty|loadkeys|chvt: -*",
            "quotaoff|quotaon|setquota|edquota: *",
            "sysrq|nsenter|unshare|setns|pivot_root|gdbserver|strace|ltrace: *",
            "ulimit: *unlimited*",
            "logrotate: -[f]|--force",
            "wall|write|mesg: -*",
            "dbus-send|busctl|gdbus|qdbus: *",
            "pkexec|run0: *",
            "exportfs|rpc.nfsd|zramctl|fstrim|mkhomedir_helper: *",
            "ldconfig|locale-gen|dpkg-reconfigure: *",
            "history: -[c]|-[d]|-[w]",
            "tmux|screen: @kill-server|@kill-session|-X",
        ],
    },
    Class {
        rule: "danger/service-forward",
        why: "starts or reloads a service",
        danger: Medium,
        rows: &[
            "systemctl: @start|@restart|@reload|@try-restart|@reload-or-restart|@daemon-reload|@condrestart",
            "service|rc-service|supervisorctl|pm2|launchctl|sv: @start|@reload|@load|@reread|@update|@up",
            "nginx|apachectl|apache2ctl|httpd|caddy|haproxy: -s|@reload|@restart|@graceful|@start|@stop",
        ],
    },
    Class {
        rule: "danger/packages",
        why: "removes packages, publishes one, or changes where they come from",
        danger: High,
        rows: &[
            "apt|apt-get|aptitude: @remove|@purge|@autoremove|@dist-upgrade|@full-upgrade|@autopurge|--allow-unauthenticated|--allow-remove-essential|--force-yes|--allow-downgrades",
            "dpkg: -[r]|-[P]|--remove|--purge|--force*|--clear-selections|--set-selections",
            "yum|dnf|microdnf|zypper|tdnf: @remove|@erase|@autoremove|@rm|@downgrade|@swap|@distro-sync",
            "pacman|yay|paru: -R*|-*R*|--remove",
            "rpm: -e*|--erase|--nodeps|--force",
            "apk: @del",
            "snap|flatpak: @remove|@uninstall|@purge|@disable",
            "emerge: --unmerge|-C|--depclean",
            "nix-collect-garbage|nix-store: *",
            "brew: @autoremove|@zap",
            "npm|yarn|pnpm: @publish|@unpublish|@deprecate|@owner|@access|@dist-tag|@adduser|@login|@token",
            "cargo: @publish|@yank|@owner|@login",
            "gem: @push|@yank|@owner",
            "twine: @upload",
            "poetry|flit|hatch|pdm|uv: @publish",
            "mvn|mvnw|gradle|gradlew|sbt: @deploy|@publish|*:deploy|*:publish|@release*",
            "nuget|dotnet: @push|@delete",
            "goreleaser: *",
            "vsce|ovsx: @publish",
            "helm: @push",
            "composer: @global",
            "conda|mamba: @remove|@clean",
            "apt-key|add-apt-repository|apt-add-repository|rpmkeys: !list|finger|--list",
            "apt-mark: *",
            "npm|yarn|pnpm: @config & @set",
            "pip|pip3: @config & @set",
            "cpanm|cpan: *://*",
        ],
    },
    Class {
        rule: "danger/packages-forward",
        why: "installs from a configured registry",
        danger: Medium,
        rows: &[
            "apt|apt-get|aptitude|yum|dnf|zypper|apk|brew|snap|flatpak|microdnf|emerge: @install|@add|@update|@upgrade|@reinstall|@uninstall",
            "dpkg: -[i]|--install|--configure",
            "rpm: -i*|-U*|--install|--upgrade",
            "pacman: -S*|-U*",
            "pip|pip3|pipx: @install|@uninstall|@upgrade",
            "npm|yarn|pnpm|bun: @install|@i|@ci|@add|@update|@upgrade|@remove|@uninstall|@rebuild",
            "npx|pnpx|bunx|uvx: *",
            "cargo: @install|@uninstall|@update",
            "gem|bundle|bundler: @install|@uninstall|@update|@cleanup",
            "go: @install|@get",
            "composer: @install|@update|@require|@remove",
            "poetry|uv|pdm|pipenv|hatch: @install|@add|@remove|@sync|@update|@lock|@pip",
            "conda|mamba|micromamba: @install|@update|@create|@env",
            "cpanm|cpan|luarocks|opam|stack|cabal|nix-env|asdf|mise|rustup|nvm|sdk: *",
            "mvn|gradle: @install",
        ],
    },
    Class {
        rule: "danger/network",
        why: "opens a connection to, or for, another host",
        danger: High,
        rows: &[
            "nc|ncat|netcat|nc.traditional|nc.openbsd: !-[z]|--version|-[h]",
            "socat|ngrok|cloudflared|frpc|frps|chisel|bore|localtunnel|lt|pwncat|msfconsole|msfvenom|sshuttle|autossh|gsocket|gs-netcat|nmap|masscan|hping3|tcpdump|tshark: *",
            "openssl: @s_client|@s_server",
            "sftp|ftp|lftp|tftp|ncftpput|curlftpfs|sshfs|rsh|rlogin|rexec|smbclient|mosh: !-[V]|--version|--help",
            "ssh: -[R]|-[L]|-[D]|-[w]",
            "telnet: *",
        ],
    },
    Class {
        rule: "danger/secrets",
        why: "reads keys, passwords or tokens",
        danger: High,
        rows: &[
            "security: find-*|dump-keychain|export*|delete-*|unlock-keychain",
            "gpg|gpg2: --export-secret*|--delete*|--edit-key|--import-ownertrust",
            "pass|op|bw|lpass|keepassxc-cli|secret-tool|keyring|gopass|chezmoi: @show|@read|@get|@lookup|@item|@export|@list|@clip",
            "ssh-add: -[L]|-[D]|*",
            "gh: @auth & @token",
            "gcloud: @print-access-token|@print-identity-token",
            "az: @get-access-token",
            "aws: @configure|get-session-token|assume-role*",
            "ssh-copy-id: *",
            "getent: @shadow|@gshadow",
            "unshadow|john|hashcat|mimipenguin: *",
            "keyctl: *",
            "docker|podman|nerdctl: @login",
            "kinit|klist: -*",
            "doppler|infisical|sops: -d|--decrypt|@secrets|@export|@decrypt",
        ],
    },
];

/// The classes that an argument list falls into. `name` is without its folder, `arguments` are texts as far as known.
pub fn classes<'a>(name: &'a str, arguments: &'a [String]) -> impl Iterator<Item = &'static Class> + 'a {
    let asks = arguments.iter().any(|word| {
        matches!(word.as_str(), "--help" | "--version")
            || word.starts_with("--dry-run")
            || matches!(
                word.as_str(),
                "--noop" | "--simulate" | "--dryrun" | "--just-print" | "--show" | "--list"
            )
    });
    let asks = asks
        || matches!(
            (name, arguments.first().map(String::as_str)),
            ("terraform" | "tofu" | "terragrunt", Some("plan"))
        )
        || matches!((name, arguments), ("kubectl" | "oc", [auth, can, ..]) if auth == "auth" && can.starts_with("can-i"))
        || matches!((name, arguments.first().map(String::as_str)), ("stty", Some("-a" | "size" | "-g")));
    let only_asks = asks
        || (arguments.len() == 1
            && matches!(arguments.first().map(String::as_str), Some("-h" | "-V" | "help" | "version")));
    let index = index();
    let own = index.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
    let patterns = index.patterns.iter().filter(|(pattern, _)| alike(pattern, name)).map(|(_, row)| row);
    let fits = |row: &&Row| !only_asks && row.conditions.iter().all(|condition| holds(condition, arguments));
    let mut found: Vec<usize> = own.iter().chain(patterns).filter(fits).map(|row| row.class).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter_map(|class| CLASSES.get(class))
}

/// A row as it is looked up: its class, and its conditions.
#[derive(Clone)]
struct Row {
    class: usize,
    conditions: Vec<&'static str>,
}

/// The rows by the names of commands, and those whose names are patterns.
struct Index {
    by_name: BTreeMap<&'static str, Vec<Row>>,
    patterns: Vec<(&'static str, Row)>,
}

fn index() -> &'static Index {
    static ONCE: OnceLock<Index> = OnceLock::new();
    ONCE.get_or_init(|| {
        let mut index = Index { by_name: BTreeMap::new(), patterns: Vec::new() };
        for (class, row) in
            CLASSES.iter().enumerate().flat_map(|(at, class)| class.rows.iter().map(move |row| (at, row)))
        {
            let Some((names, conditions)) = split_names(row) else { continue };
            let conditions =
                conditions.split(" & ").map(str::trim).filter(|condition| !condition.is_empty()).collect();
            let row = Row { class, conditions };
            for name in names.split('|') {
                if name.contains('*') {
                    index.patterns.push((name, row.clone()));
                } else {
                    index.by_name.entry(name).or_default().push(row.clone());
                }
            }
        }
        index
    })
}

/// The names of a row end at the first colon that a blank or the end follows.
fn split_names(row: &str) -> Option<(&str, &str)> {
    row.split_once(": ").or_else(|| row.strip_suffix(':').map(|names| (names, "")))
}

fn holds(condition: &str, arguments: &[String]) -> bool {
    match condition.strip_prefix('!') {
        Some(condition) => !any(condition, arguments),
        None => any(condition, arguments),
    }
}

fn any(condition: &str, arguments: &[String]) -> bool {
    condition.split('|').any(|one| alternative(one, arguments))
}

fn alternative(one: &str, arguments: &[String]) -> bool {
    if let Some(word) = one.strip_prefix('@') {
        let word = word.to_lowercase();
        let operands = arguments.iter().filter(|argument| !argument.starts_with('-')).take(5);
        return operands.into_iter().any(|argument| alike(&word, &argument.to_lowercase()));
    }
    if let Some(letter) = one.strip_prefix("-[").and_then(|rest| rest.strip_suffix(']')) {
        return arguments.iter().any(|argument| has_letter(argument, letter));
    }
    arguments.iter().any(|argument| alike(one, argument))
}

/// Whether an argument is a cluster of short options with a letter in it.
pub fn has_letter(argument: &str, letter: &str) -> bool {
    let cluster = argument.strip_prefix('-').filter(|rest| !rest.starts_with('-') && !rest.is_empty());
    cluster.is_some_and(|rest| rest.chars().take_while(char::is_ascii_alphabetic).any(|c| letter.contains(c)))
}

/// Whether a pattern with `*` at its ends, or one in the middle, matches a text.
fn alike(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some(("", "")) => true,
        Some(("", rest)) => match rest.strip_suffix('*') {
            Some(middle) => text.contains(middle),
            None => text.ends_with(rest),
        },
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|tail| match rest.split_once('*') {
            None => tail.ends_with(rest),
            Some((middle, _)) => tail.contains(middle),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(line: &str) -> Option<Danger> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (name, arguments) = words.split_first().unwrap();
        classes(name, arguments).map(|class| class.danger).max()
    }

    #[test]
    fn every_row_has_names_and_conditions() {
        for row in CLASSES.iter().flat_map(|class| class.rows) {
            assert!(
                split_names(row).is_some_and(|(names, _)| !names.is_empty() && !names.contains(' ')),
                "{row}"
            );
        }
    }

    #[test]
    fn rows_match_what_they_say() {
        for (line, danger) in [
            ("git push -fu origin main", Some(High)),
            ("git push origin main", Some(Medium)),
            ("git status", None),
            ("git -C x push --force", Some(High)),
            ("mkfs.xfs /dev/sdz", Some(High)),
            ("parted /dev/sda print", None),
            ("kubectl get pods", None),
            ("kubectl delete pod x --dry-run=server", None),
            ("systemctl status x", None),
            ("systemctl stop x", Some(High)),
            ("redis-cli -n 3 FlushDB", Some(High)),
            ("apt-get update", Some(Medium)),
            ("crontab -l", None),
            ("crontab new.txt", Some(High)),
            ("docker ps -a", None),
        ] {
            assert_eq!(worst(line), danger, "{line}");
        }
    }
}
