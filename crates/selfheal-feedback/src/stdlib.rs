//! Modules that were part of an interpreter's own library and are no longer.

/// Removed modules of Python, with the version that no longer has them. Sources: "What's New In Python" 3.0, 3.10 to
/// 3.13.
const PYTHON: [(&str, &str); 39] = [
    ("ConfigParser", "3.0"),
    ("Cookie", "3.0"),
    ("HTMLParser", "3.0"),
    ("Queue", "3.0"),
    ("SocketServer", "3.0"),
    ("StringIO", "3.0"),
    ("Tkinter", "3.0"),
    ("__builtin__", "3.0"),
    ("cPickle", "3.0"),
    ("cStringIO", "3.0"),
    ("commands", "3.0"),
    ("cookielib", "3.0"),
    ("httplib", "3.0"),
    ("md5", "3.0"),
    ("sets", "3.0"),
    ("sha", "3.0"),
    ("thread", "3.0"),
    ("urllib2", "3.0"),
    ("urlparse", "3.0"),
    ("xmlrpclib", "3.0"),
    ("formatter", "3.10"),
    ("asynchat", "3.12"),
    ("asyncore", "3.12"),
    ("distutils", "3.12"),
    ("imp", "3.12"),
    ("smtpd", "3.12"),
    ("aifc", "3.13"),
    ("audioop", "3.13"),
    ("cgi", "3.13"),
    ("cgitb", "3.13"),
    ("crypt", "3.13"),
    ("imghdr", "3.13"),
    ("lib2to3", "3.13"),
    ("mailcap", "3.13"),
    ("nntplib", "3.13"),
    ("pipes", "3.13"),
    ("telnetlib", "3.13"),
    ("uu", "3.13"),
    ("xdrlib", "3.13"),
];

/// The version of Python that no longer has a module.
#[must_use]
pub fn removed_in(module: &str) -> Option<&'static str> {
    let root = module.split('.').next().unwrap_or(module);
    PYTHON.iter().find(|(name, _)| *name == root).map(|(_, version)| *version)
}
