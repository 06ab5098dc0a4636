//! Which package brings a command: those that scripts use most and that a small system lacks.

/// Command and package. Source: the file lists of Debian 12.
const PACKAGES: [(&str, &str); 78] = [
    ("7z", "p7zip-full"),
    ("ab", "apache2-utils"),
    ("ansible-playbook", "ansible"),
    ("aws", "awscli"),
    ("bc", "bc"),
    ("bunzip2", "bzip2"),
    ("bzip2", "bzip2"),
    ("cmake", "cmake"),
    ("column", "bsdextrautils"),
    ("composer", "composer"),
    ("convert", "imagemagick"),
    ("cpio", "cpio"),
    ("crontab", "cron"),
    ("curl", "curl"),
    ("dialog", "dialog"),
    ("dig", "bind9-dnsutils"),
    ("docker", "docker.io"),
    ("dos2unix", "dos2unix"),
    ("expect", "expect"),
    ("ffmpeg", "ffmpeg"),
    ("file", "file"),
    ("fuser", "psmisc"),
    ("g++", "g++"),
    ("gawk", "gawk"),
    ("gcc", "gcc"),
    ("gettext", "gettext-base"),
    ("envsubst", "gettext-base"),
    ("git", "git"),
    ("go", "golang-go"),
    ("gpg", "gnupg"),
    ("host", "bind9-host"),
    ("htpasswd", "apache2-utils"),
    ("identify", "imagemagick"),
    ("ifconfig", "net-tools"),
    ("ip", "iproute2"),
    ("java", "default-jre-headless"),
    ("javac", "default-jdk-headless"),
    ("jq", "jq"),
    ("killall", "psmisc"),
    ("less", "less"),
    ("lsof", "lsof"),
    ("lz4", "lz4"),
    ("mail", "bsd-mailx"),
    ("mailx", "bsd-mailx"),
    ("make", "make"),
    ("mariadb", "mariadb-client"),
    ("mysql", "mariadb-client"),
    ("mysqldump", "mariadb-client"),
    ("nc", "netcat-openbsd"),
    ("netstat", "net-tools"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("nslookup", "bind9-dnsutils"),
    ("parallel", "parallel"),
    ("patch", "patch"),
    ("pg_dump", "postgresql-client"),
    ("php", "php-cli"),
    ("ping", "iputils-ping"),
    ("pip", "python3-pip"),
    ("pip3", "python3-pip"),
    ("ps", "procps"),
    ("psql", "postgresql-client"),
    ("pv", "pv"),
    ("python3", "python3"),
    ("rclone", "rclone"),
    ("rg", "ripgrep"),
    ("rsync", "rsync"),
    ("ruby", "ruby"),
    ("sendmail", "postfix"),
    ("shellcheck", "shellcheck"),
    ("sqlite3", "sqlite3"),
    ("ss", "iproute2"),
    ("ssh", "openssh-client"),
    ("tree", "tree"),
    ("unzip", "unzip"),
    ("wget", "wget"),
    ("xmllint", "libxml2-utils"),
    ("zip", "zip"),
];

/// The package of Debian that brings a command.
pub(crate) fn package_of(command: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| *name == command).map(|(_, package)| *package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_known_by_their_commands() {
        assert_eq!(package_of("envsubst"), Some("gettext-base"));
        assert_eq!(package_of("nosuchtool"), None);
        let mut names: Vec<&str> = PACKAGES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PACKAGES.len(), "each once");
    }
}
