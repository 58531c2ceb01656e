import Foundation
import Testing

@testable import Millpond

@Suite struct URLOriginTests {
  @Test(arguments: ["http://a", "https://a/b?c#d", "HTTP://A:1", "http://u:p@a", "http://[::1]/"])
  func `a URL with a scheme of HTTP and a host is a web address`(address: String) throws {
    #expect(try #require(URL(string: address)).isWebAddress)
  }

  @Test(arguments: ["file:///a", "http:///a", "http:a", "a", "//a", "httpx://a", "data:,a"])
  func `nothing else is`(address: String) throws {
    #expect(try !#require(URL(string: address)).isWebAddress)
  }
}
