//! TLS as libpq's `sslmode`, `sslrootcert`, `sslcert` and `sslkey` request it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};
use socket2::Socket;

use crate::oltp::{Failure, Trouble};

/// A socket whose bytes are encrypted.
pub(super) type Secured = StreamOwned<ClientConnection, Socket>;

/// libpq's `sslmode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Never.
    Disable,
    /// If the server refuses a session without.
    Allow,
    /// If the server offers it.
    #[default]
    Prefer,
    /// Always, with any certificate.
    Require,
    /// Always, with a certificate of a trusted authority.
    VerifyCa,
    /// Always, with such a certificate for this host.
    VerifyFull,
}

impl Mode {
    /// By libpq's word for it.
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "disable" => Self::Disable,
            "allow" => Self::Allow,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return None,
        })
    }

    fn word(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Allow => "allow",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        }
    }
}

/// Authorities that are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// Certificates in a PEM file.
    File(PathBuf),
    /// Those that browsers trust: `sslrootcert=system`.
    Public,
}

/// What a session's encryption is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tls {
    pub mode: Mode,
    pub roots: Option<Roots>,
    /// Files of the client's own certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// How a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    Plain,
    /// Encrypted if the server offers it.
    Offered,
    Encrypted,
}

impl Tls {
    /// One after the other, until the server takes one.
    pub fn attempts(&self) -> &'static [Attempt] {
        match self.mode {
            Mode::Disable => &[Attempt::Plain],
            Mode::Allow => &[Attempt::Plain, Attempt::Encrypted],
            Mode::Prefer => &[Attempt::Offered, Attempt::Plain],
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => &[Attempt::Encrypted],
        }
    }

    /// The server has agreed to encrypt. The socket has its time-outs.
    pub fn secure(&self, host: &str, mut socket: Socket) -> Result<Secured, Failure> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| refused(format!("{host} cannot be a name in a certificate")))?;
        let config = self.config()?;
        let mut session = ClientConnection::new(Arc::new(config), name)
            .map_err(|error| refused(format!("TLS cannot be set up: {error}")))?;
        while session.is_handshaking() {
            session.complete_io(&mut socket).map_err(|error| self.unsecured(host, &error))?;
        }
        Ok(StreamOwned::new(session, socket))
    }

    /// The server does not encrypt.
    pub fn not_offered(&self) -> Failure {
        let mode = self.mode.word();
        refused(format!(
            "the server does not offer TLS, which sslmode={mode} requests: turn on `ssl` in its postgresql.conf, or \
             use another sslmode"
        ))
    }

    fn config(&self) -> Result<ClientConfig, Failure> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| refused(format!("TLS cannot be set up: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(self.verifier(provider)?));
        let Some((certificate, key)) = &self.identity else { return Ok(builder.with_no_client_auth()) };
        let chain = certificates(certificate, "sslcert")?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| {
            refused(format!("the key {} (sslkey) cannot be read: {error}", key.display()))
        })?;
        builder.with_client_auth_cert(chain, secret).map_err(|error| {
            refused(format!("the certificate {} and its key do not fit: {error}", certificate.display()))
        })
    }

    /// `require` with an authority's certificate checks it, as libpq does.
    fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Verifier, Failure> {
        let checks_name = self.mode == Mode::VerifyFull;
        let Some(roots) = self.roots.as_ref().filter(|_| self.mode >= Mode::Require) else {
            if self.mode >= Mode::VerifyCa {
                return Err(refused(format!(
                    "sslmode={} needs the certificate of an authority: give sslrootcert=FILE, or sslrootcert=system \
                     for those that browsers trust",
                    self.mode.word()
                )));
            }
            return Ok(Verifier { provider, checks_name, chain: None, pinned: Vec::new() });
        };
        let (store, pinned) = match roots {
            Roots::Public => (webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect(), Vec::new()),
            Roots::File(file) => {
                let trusted = certificates(file, "sslrootcert")?;
                let mut store = RootCertStore::empty();
                store.add_parsable_certificates(trusted.iter().cloned());
                (store, trusted)
            }
        };
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider))
            .build()
            .map_err(|error| refused(format!("sslrootcert holds no certificate of an authority: {error}")))?;
        Ok(Verifier { provider, checks_name, chain: Some(chain), pinned })
    }

    fn unsecured(&self, host: &str, error: &io::Error) -> Failure {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        let Some(Error::InvalidCertificate(why)) = tls else {
            let trouble = if tls.is_some() { Trouble::Error } else { Trouble::Lost };
            return Failure::new(trouble, format!("the TLS handshake with {host} failed: {error}"));
        };
        let advice = match why {
            CertificateError::UnknownIssuer => {
                "no certificate in sslrootcert has signed it: give that of its authority".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
                "it is not for {host}, by its subject alternative names: connect by a name that it holds, or use \
                 sslmode=verify-ca"
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "it has expired: renew it on the server".to_owned()
            }
            other => other.to_string(),
        };
        refused(format!("the server's certificate is not accepted: {advice}"))
    }
}

/// Chain and name as `sslmode` has them checked.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    checks_name: bool,
    /// None: any certificate will do.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates of `sslrootcert`. A server's own, self-signed, may stand there: it is trusted as it is.
    pinned: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        if self.pinned.iter().any(|pinned| pinned == end_entity) {
            if self.checks_name {
                rustls::server::ParsedCertificate::try_from(end_entity)
                    .and_then(|parsed| rustls::client::verify_server_name(&parsed, server_name))?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Protocol and cipher of a session, in the words of the standard.
pub(super) struct Shown<'a>(pub &'a ClientConnection);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.0.protocol_version().and_then(|version| version.as_str()).unwrap_or("TLS");
        let suite = self.0.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()).unwrap_or("");
        write!(out, "{} {suite}", version.replace("TLSv1_", "TLS 1."))
    }
}

fn certificates(file: &Path, parameter: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let unreadable = |why: String| {
        refused(format!("the certificates {} ({parameter}) cannot be read: {why}", file.display()))
    };
    let found: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable(error.to_string()))?;
    if found.is_empty() { Err(unreadable("there are none in it".to_owned())) } else { Ok(found) }
}

fn refused(what: String) -> Failure {
    Failure::new(Trouble::Error, what)
        .with_next(Some("see that sslmode and sslrootcert fit the server and its certificate"))
}
