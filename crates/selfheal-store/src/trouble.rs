//! How the errors of SQLite and of the system become [`PortError`]s that callers can tell apart.

use std::io;

use rusqlite::ErrorCode;
use rusqlite::ffi;
use selfheal_core::ports::{PortError, Trouble};

/// An error of SQLite while `doing` something.
pub(crate) fn sql(doing: impl Into<String>, error: rusqlite::Error) -> PortError {
    let trouble = sql_trouble(&error);
    PortError { doing: doing.into(), source: Some(Box::new(error)), trouble }
}

fn sql_trouble(error: &rusqlite::Error) -> Trouble {
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return match error {
            rusqlite::Error::QueryReturnedNoRows => Trouble::Missing,
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) => {
                Trouble::Corrupt
            }
            _ => Trouble::Other,
        };
    };
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Trouble::Locked,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Trouble::Corrupt,
        ErrorCode::DiskFull | ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            Trouble::NoRoom
        }
        ErrorCode::SystemIoFailure => io_trouble_of_sqlite(failure.extended_code),
        // A table or column that the version promises is not there.
        ErrorCode::Unknown if failure.extended_code == ffi::SQLITE_ERROR => Trouble::Corrupt,
        _ => Trouble::Other,
    }
}

/// Which of SQLite's I/O errors mean that nothing can be written, and which that the file is not what it should be.
fn io_trouble_of_sqlite(extended: i32) -> Trouble {
    const NO_ROOM: [i32; 6] = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMOPEN,
        ffi::SQLITE_IOERR_SHMSIZE,
        ffi::SQLITE_IOERR_DIR_FSYNC,
    ];
    match extended {
        code if NO_ROOM.contains(&code) => Trouble::NoRoom,
        ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS => Trouble::Corrupt,
        _ => Trouble::Other,
    }
}

/// An error of the system while `doing` something.
pub(crate) fn io(doing: impl Into<String>, error: impl Into<io::Error>) -> PortError {
    let error = error.into();
    let trouble = match error.kind() {
        io::ErrorKind::NotFound => Trouble::Missing,
        io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded
        | io::ErrorKind::FileTooLarge
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::PermissionDenied => Trouble::NoRoom,
        _ => Trouble::Other,
    };
    PortError { doing: doing.into(), source: Some(Box::new(error)), trouble }
}

/// Something stored that cannot be read as what it should be.
pub(crate) fn damaged(
    doing: impl Into<String>,
    source: impl std::error::Error + Send + Sync + 'static,
) -> PortError {
    PortError { doing: doing.into(), source: Some(Box::new(source)), trouble: Trouble::Corrupt }
}
