//! Which distribution brings a module: from the names alone where they are the same, else from a table. Nothing is ever
//! guessed: a name that nobody registered yet is what an attacker registers next.

/// Modules, and the distributions that bring them under another name. From the projects' own pages on pypi.org.
const TABLE: &[(&str, &[&str])] = &[
    ("Crypto", &["pycryptodome"]),
    ("Cryptodome", &["pycryptodomex"]),
    ("Levenshtein", &["Levenshtein", "python-Levenshtein"]),
    ("MySQLdb", &["mysqlclient"]),
    ("OpenSSL", &["pyOpenSSL"]),
    ("PIL", &["Pillow"]),
    ("Xlib", &["python-xlib"]),
    ("attr", &["attrs"]),
    ("bs4", &["beautifulsoup4"]),
    ("cairo", &["pycairo"]),
    ("confluent_kafka", &["confluent-kafka"]),
    ("cv2", &["opencv-python", "opencv-python-headless", "opencv-contrib-python"]),
    ("dateutil", &["python-dateutil"]),
    ("discord", &["discord.py"]),
    ("dns", &["dnspython"]),
    ("docx", &["python-docx"]),
    ("dotenv", &["python-dotenv"]),
    ("exif", &["exif"]),
    ("fitz", &["PyMuPDF"]),
    ("flask_cors", &["Flask-Cors"]),
    ("flask_sqlalchemy", &["Flask-SQLAlchemy"]),
    ("git", &["GitPython"]),
    ("github", &["PyGithub"]),
    ("gitlab", &["python-gitlab"]),
    ("google.cloud.bigquery", &["google-cloud-bigquery"]),
    ("google.cloud.pubsub", &["google-cloud-pubsub"]),
    ("google.cloud.storage", &["google-cloud-storage"]),
    ("google.protobuf", &["protobuf"]),
    ("googleapiclient", &["google-api-python-client"]),
    ("grpc", &["grpcio"]),
    ("hcl2", &["python-hcl2"]),
    ("imblearn", &["imbalanced-learn"]),
    ("jenkins", &["python-jenkins"]),
    ("jose", &["python-jose"]),
    ("jwt", &["PyJWT"]),
    ("kafka", &["kafka-python"]),
    ("ldap", &["python-ldap"]),
    ("magic", &["python-magic"]),
    ("markdown", &["Markdown"]),
    ("memcache", &["python-memcached"]),
    ("mpl_toolkits", &["matplotlib"]),
    ("mysql.connector", &["mysql-connector-python"]),
    ("nacl", &["PyNaCl"]),
    ("odf", &["odfpy"]),
    ("paho.mqtt", &["paho-mqtt"]),
    ("pkg_resources", &["setuptools"]),
    ("pptx", &["python-pptx"]),
    ("psycopg2", &["psycopg2", "psycopg2-binary"]),
    ("pywintypes", &["pywin32"]),
    ("ruamel.yaml", &["ruamel.yaml"]),
    ("rest_framework", &["djangorestframework"]),
    ("serial", &["pyserial"]),
    ("skimage", &["scikit-image"]),
    ("sklearn", &["scikit-learn"]),
    ("slack", &["slackclient"]),
    ("slack_sdk", &["slack-sdk"]),
    ("slugify", &["python-slugify"]),
    ("snappy", &["python-snappy"]),
    ("socks", &["PySocks"]),
    ("telegram", &["python-telegram-bot"]),
    ("unidecode", &["Unidecode"]),
    ("usb", &["pyusb"]),
    ("websocket", &["websocket-client"]),
    ("whois", &["python-whois"]),
    ("win32api", &["pywin32"]),
    ("xlrd", &["xlrd"]),
    ("yaml", &["PyYAML"]),
    ("zmq", &["pyzmq"]),
];

/// A distribution's name in the form in which two names are the same: small letters, and `-` for every run of `-`, `_` and
/// `.` (the packaging guide's "Name normalization").
pub(super) fn normal(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if out.ends_with('-') => {}
            '-' | '_' | '.' => out.push('-'),
            other => out.extend(other.to_lowercase()),
        }
    }
    out
}

/// What the table says of a module, by its longest part that it knows.
pub(super) fn known(module: &str) -> &'static [&'static str] {
    parts(module)
        .find_map(|part| TABLE.iter().find(|(name, _)| *name == part))
        .map_or(&[], |(_, distributions)| *distributions)
}

/// The normal names of distributions that may bring a module, the likeliest first. They count only where the project
/// declares one of them.
pub(super) fn likely(module: &str) -> Vec<String> {
    let mut out: Vec<String> = known(module).iter().map(|name| normal(name)).collect();
    out.extend(parts(module).map(normal));
    let first = normal(module.split('.').next().unwrap_or_default());
    let around = [format!("python-{first}"), format!("{first}-python"), format!("py{first}")];
    out.extend(around);
    out
}

/// `a.b.c`, `a.b`, `a`.
fn parts(module: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(module), |part| part.rsplit_once('.').map(|(front, _)| front))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_their_normal_form() {
        assert_eq!(normal("Ruamel.__Yaml"), "ruamel-yaml");
        assert_eq!(likely("yaml.nodes").first().map(String::as_str), Some("pyyaml"));
        assert_eq!(likely("google.cloud.storage").first().map(String::as_str), Some("google-cloud-storage"));
        assert!(likely("requests").contains(&"requests".to_owned()));
    }

    #[test]
    fn the_table_is_sorted_enough_to_have_no_name_twice() {
        let mut names: Vec<_> = TABLE.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
        assert!(known("colour").is_empty());
    }
}
