// The part of Security with which a certificate is pinned.
//
// Signatures: https://developer.apple.com/documentation/security.
public import Foundation

public class SecTrust: @unchecked Sendable {}
public class SecCertificate: @unchecked Sendable {}

public func SecTrustEvaluateWithError(
  _ trust: SecTrust, _ error: UnsafeMutablePointer<Any?>?
) -> Bool { fatalError() }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> NSArray? { fatalError() }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> NSData { fatalError() }
