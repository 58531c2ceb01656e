import Testing

@testable import MillpondRedis

@Suite struct RedisURLTests {
  @Test func `a URL has the address, the user and the database`() throws {
    let url = try RedisURL("rediss://cache:p%40ss%2Fword@cache.example.com:6380/2")

    #expect(url.address == .tls(host: "cache.example.com", port: 6380))
    #expect(url.username == "cache")
    #expect(url.password == "p@ss/word")
    #expect(url.database == 2)
  }

  @Test(arguments: [
    ("redis://host", RedisAddress.tcp(host: "host")),
    ("redis://host:7/", .tcp(host: "host", port: 7)),
    ("redis://[::1]:7/0", .tcp(host: "::1", port: 7)),
    ("rediss://10.0.0.1", .tls(host: "10.0.0.1")),
    ("unix:///run/redis.sock", .unix(path: "/run/redis.sock")),
  ])
  func `whatever is left out has its usual value`(text: String, address: RedisAddress) throws {
    let url = try RedisURL(text)

    #expect(url.address == address)
    #expect(url.username == nil && url.password == nil && url.database == 0)
  }

  @Test func `a name, a password or a database alone is kept`() throws {
    #expect(try RedisURL("redis://name@host").username == "name")
    #expect(try RedisURL("redis://:word@host").password == "word")
    #expect(try RedisURL("redis://:word@host").username == nil)
    #expect(try RedisURL("unix:///run/redis.sock?db=3").database == 3)
  }

  @Test(arguments: [
    "", "host", "host:6379", "http://host", "redis://", "redis://host:0", "redis://host:65536",
    "redis://host:port", "redis://host/x", "redis://host/-1", "redis://host/1/2",
    "redis://host/99999", "redis://host?db=1", "redis://host#1", "unix://host/path", "unix://",
    "unix:///p?x=1", "redis://[::1",
  ])
  func `what is no URL of a server is refused`(text: String) {
    #expect(throws: RedisError.self) { try RedisURL(text) }
  }

  @Test(arguments: [
    "redis://user:secret@host:bad", "redis://:secret@host/x", "http://secret:secret@host",
    "redis://secret@x:secret@host:port", "user:secret@host",
  ])
  func `a refused URL is named without its password`(text: String) {
    #expect {
      try RedisURL(text)
    } throws: { error in
      "\(error)".contains("host") && !"\(error)".contains("secret")
    }
  }
}
