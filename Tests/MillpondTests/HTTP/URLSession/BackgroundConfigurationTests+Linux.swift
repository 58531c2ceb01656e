#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
  import MillpondTesting
  import Testing

  @testable import Millpond

  @Suite struct BackgroundConfigurationTests {
    @Test func `a configuration for the background sends nothing, and says why`() async throws {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.identifier = "downloads"
      let transport = URLSessionTransport(configuration: configuration)
      let url = try #require(URL(string: "http://a.invalid/"))

      let parts = Recorder<HTTPPart>().subscribe(to: transport.send(HTTPRequest(url: url)))
      try await parts.ended()

      #expect(parts.failure.map { "\($0)" }?.contains("for the background") == true)
      #expect(SessionSettings(configuration).configuration(connectionsPerHost: 1).identifier == nil)
    }
  }
#endif
