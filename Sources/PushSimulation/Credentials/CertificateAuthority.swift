import COpenSSL
import Foundation
package import NIOSSL

/// A certificate authority that exists for one simulator: it signs the server's certificate, and those of clients.
///
/// The files outlive the process: a simulator that starts again has the authority that its clients trust already.
package struct CertificateAuthority: Sendable {
    /// The names and addresses that the certificate is for, besides the hosts that it is made for.
    private static let names = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"]
    private static let days = 365
    /// A certificate with less time left is replaced by a new one.
    private static let remainingSeconds = 30 * 86_400

    /// PEM files: the authority's certificate, for clients, and its key; the server's certificate and its key.
    package let authorityFile: String
    private let authorityKeyFile: String
    private let name: String
    package let certificateFile: String
    package let keyFile: String

    /// Uses the files of a directory, and makes what is missing there.
    ///
    /// - Parameters:
    ///   - directory: Made if it is not there.
    ///   - name: Of the simulator, for the subjects of certificates.
    ///   - hosts: Of the service that it stands for: for clients that cannot be told another name.
    package init(directory: String, name: String, hosts: [String]) throws(SimulatorError) {
        self.name = name
        (authorityFile, authorityKeyFile) = ("\(directory)/ca.pem", "\(directory)/ca-key.pem")
        certificateFile = "\(directory)/server.pem"
        keyFile = "\(directory)/server-key.pem"
        if isUsable() { return }
        try SimulatorFiles.makeDirectory(directory)
        let (authorityKey, key) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
        let authority = try Certificate(of: authorityKey, name: "Carillon \(name) authority")
        try authority.extend(NID_basic_constraints, "critical,CA:TRUE")
        try authority.extend(NID_key_usage, "critical,keyCertSign,cRLSign")
        try authority.extend(NID_subject_key_identifier, "hash")
        try authority.sign(with: authorityKey)
        let server = try Certificate(of: key, name: "Carillon \(name)", issuer: authority)
        try server.extend(NID_basic_constraints, "critical,CA:FALSE")
        try server.extend(NID_key_usage, "critical,digitalSignature")
        try server.extend(NID_ext_key_usage, "serverAuth")
        try server.extend(NID_subject_key_identifier, "hash")
        try server.extend(NID_authority_key_identifier, "keyid")
        try server.extend(NID_subject_alt_name, (Self.names + hosts.map { "DNS:\($0)" }).joined(separator: ","))
        try server.sign(with: authorityKey)
        // The keys first: files that are all there belong together.
        try SimulatorFiles.write(try authorityKey.pem(), to: authorityKeyFile, isSecret: true)
        try SimulatorFiles.write(try key.pem(), to: keyFile, isSecret: true)
        try SimulatorFiles.write(try server.pem(), to: certificateFile)
        try SimulatorFiles.write(try authority.pem(), to: authorityFile)
    }

    /// Whether the files are there, belong together and are good for a while.
    private func isUsable() -> Bool {
        guard let authority = Certificate(file: authorityFile), let server = Certificate(file: certificateFile),
            let authorityKey = SimulatorFiles.read(authorityKeyFile).flatMap(P256PrivateKey.init(pem:)),
            let key = SimulatorFiles.read(keyFile).flatMap(P256PrivateKey.init(pem:))
        else { return false }
        return server.isSigned(by: authority) && authority.has(authorityKey) && server.has(key)
            && server.isGood(for: Self.remainingSeconds) && authority.isGood(for: Self.remainingSeconds)
    }

    /// Makes the certificate of a provider, and its key. Blocks.
    ///
    /// - Parameter bundleIdentifier: The app whose pushes it is good for: the UID of the subject, as in Apple's.
    /// - Returns: PEM.
    package func issue(for bundleIdentifier: String) throws(SimulatorError) -> (certificate: [UInt8], key: [UInt8]) {
        guard (1...200).contains(bundleIdentifier.utf8.count) else {
            throw SimulatorError("a bundle identifier has 1 to 200 bytes")
        }
        guard let authority = Certificate(file: authorityFile),
            let authorityKey = SimulatorFiles.read(authorityKeyFile).flatMap(P256PrivateKey.init(pem:))
        else { throw SimulatorError("the files of the authority are gone: start the simulator again") }
        let key = try P256PrivateKey.generate()
        let client = try Certificate(of: key, name: "Carillon \(name) provider", issuer: authority)
        try client.add(NID_userId, bundleIdentifier)
        try client.extend(NID_basic_constraints, "critical,CA:FALSE")
        try client.extend(NID_key_usage, "critical,digitalSignature")
        try client.extend(NID_ext_key_usage, "clientAuth")
        try client.sign(with: authorityKey)
        return (try client.pem(), try key.pem())
    }

    /// The bundle identifiers that a client's certificate is good for.
    package static func topics(of der: [UInt8]) -> [String] { Certificate(der: der)?.texts(NID_userId) ?? [] }

    /// An X.509 certificate.
    private final class Certificate {
        private let certificate: OpaquePointer
        private let issuer: Certificate?

        init(of key: P256PrivateKey, name: String, issuer: Certificate? = nil) throws(SimulatorError) {
            guard let certificate = X509_new() else { throw .openSSL("make a certificate") }
            (self.certificate, self.issuer) = (certificate, issuer)
            let subject = X509_get_subject_name(certificate)
            let isMade = key.withKey { key in
                X509_set_version(certificate, 2) == 1
                    && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...UInt64.max / 2)) == 1
                    && X509_gmtime_adj(X509_getm_notBefore(certificate), -3_600) != nil
                    && X509_gmtime_adj(X509_getm_notAfter(certificate), CertificateAuthority.days * 86_400) != nil
                    && X509_NAME_add_entry_by_NID(
                        subject,
                        NID_commonName,
                        MBSTRING_UTF8,
                        name,
                        Int32(name.utf8.count),
                        -1,
                        0
                    )
                        == 1
                    && X509_set_issuer_name(
                        certificate,
                        issuer.map { X509_get_subject_name($0.certificate) } ?? subject
                    ) == 1 && X509_set_pubkey(certificate, key) == 1
            }
            guard isMade else { throw .openSSL("make a certificate") }
        }

        init?(file: String) {
            defer { ERR_clear_error() }
            guard let pem = SimulatorFiles.read(file), let bytes = BIO_new_mem_buf(pem, Int32(clamping: pem.count))
            else {
                return nil
            }
            defer { BIO_free(bytes) }
            guard let certificate = PEM_read_bio_X509(bytes, nil, nil, nil) else { return nil }
            (self.certificate, issuer) = (certificate, nil)
        }

        init?(der: [UInt8]) {
            defer { ERR_clear_error() }
            let certificate = der.withUnsafeBufferPointer { bytes in
                var position = bytes.baseAddress
                return d2i_X509(nil, &position, bytes.count)
            }
            guard let certificate else { return nil }
            (self.certificate, issuer) = (certificate, nil)
        }

        deinit { X509_free(certificate) }

        /// Adds a part of the subject's name.
        func add(_ id: Int32, _ text: String) throws(SimulatorError) {
            let subject = X509_get_subject_name(certificate)
            let count = Int32(text.utf8.count)
            guard X509_NAME_add_entry_by_NID(subject, id, MBSTRING_UTF8, text, count, -1, 0) == 1 else {
                throw .openSSL("make a certificate")
            }
        }

        /// The parts of the subject's name of one kind.
        func texts(_ id: Int32) -> [String] {
            let subject = X509_get_subject_name(certificate)
            var (texts, index) = ([String](), X509_NAME_get_index_by_NID(subject, id, -1))
            while index >= 0 {
                let data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index))
                if let start = ASN1_STRING_get0_data(data) {
                    let bytes = UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(data)))
                    texts.append(String(decoding: bytes, as: UTF8.self))
                }
                index = X509_NAME_get_index_by_NID(subject, id, index)
            }
            return texts
        }

        func extend(_ id: Int32, _ value: String) throws(SimulatorError) {
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, (issuer ?? self).certificate, certificate, nil, nil, 0)
            guard let new = X509V3_EXT_conf_nid(nil, &context, id, value) else { throw .openSSL("make a certificate") }
            defer { X509_EXTENSION_free(new) }
            guard X509_add_ext(certificate, new, -1) == 1 else { throw .openSSL("make a certificate") }
        }

        func sign(with key: P256PrivateKey) throws(SimulatorError) {
            guard key.withKey({ X509_sign(certificate, $0, EVP_sha256()) }) > 0 else {
                throw .openSSL("sign a certificate")
            }
        }

        func pem() throws(SimulatorError) -> [UInt8] {
            try PEMText.write("a certificate") { PEM_write_bio_X509($0, certificate) }
        }

        func isSigned(by authority: Certificate) -> Bool {
            defer { ERR_clear_error() }
            return X509_verify(certificate, X509_get0_pubkey(authority.certificate)) == 1
        }

        func has(_ key: P256PrivateKey) -> Bool {
            defer { ERR_clear_error() }
            return key.withKey { X509_check_private_key(certificate, $0) } == 1
        }

        func isGood(for seconds: Int) -> Bool {
            var then = time(nil) + seconds
            return X509_cmp_time(X509_get0_notAfter(certificate), &then) > 0
        }
    }
}

extension CertificateAuthority {
    /// A server with the certificate, by TLS 1.2 and 1.3.
    ///
    /// - Parameter protocols: For ALPN, the preferred one first.
    package func serverConfiguration(_ protocols: [String]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificateFile).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = protocols
        return configuration
    }
}
