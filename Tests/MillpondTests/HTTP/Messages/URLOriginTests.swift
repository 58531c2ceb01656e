import Foundation
import Testing

@testable import Millpond

@Suite struct URLOriginTests {
  @Test(arguments: ["http://a", "https://a/b?c#d", "HTTP://A:1", "http://u:p@a", "http://[::1]/"])
  func `what has a scheme of HTTP's and a host is one`(address: String) throws {
    #expect(try #require(URL(string: address)).isWebAddress)
  }

  @Test(arguments: ["file:///a", "http:///a", "http:a", "a", "//a", "httpx://a", "data:,a"])
  func `nothing else is`(address: String) throws {
    #expect(try !#require(URL(string: address)).isWebAddress)
  }
}
