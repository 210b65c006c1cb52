//! Objects in S3 stores as targets: their names, the store that the environment and the
//! configuration files of AWS's tools describe, and the signatures of requests.

pub mod config;
pub mod credentials;
pub mod endpoint;
pub mod object;
mod profiles;
pub mod signature;
pub mod store;
mod surroundings;
pub mod verification;

pub use config::ConfigError;
pub use credentials::{Credentials, Secret};
pub use endpoint::{Endpoint, EndpointError};
pub use object::{ObjectName, ObjectNameError, is_object_name};
pub use store::{PresignError, Store};
pub use surroundings::{ProcessSurroundings, Surroundings};
