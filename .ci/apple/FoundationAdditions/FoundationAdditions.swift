// Foundation as on Apple's platforms, where it contains its networking; imported in every file of a
// module.
@_exported public import Foundation
@_exported public import FoundationNetworking

// What the Foundation of Linux lacks, or marks as unavailable.
public import Security

extension URLSessionConfiguration {
  public var waitsForConnectivity: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  public var allowsExpensiveNetworkAccess: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  public var allowsConstrainedNetworkAccess: Bool {
    get { fatalError() }
    set { fatalError() }
  }
}

extension URLProtectionSpace {
  public var serverTrust: SecTrust? { fatalError() }
}

extension URLCredential {
  public convenience init(trust: SecTrust) { fatalError() }
}

public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
