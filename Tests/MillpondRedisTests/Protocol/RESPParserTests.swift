import Foundation
import Testing

@testable import MillpondRedis

@Suite struct RESPParserTests {
  /// Every kind of value, in its encoded form.
  static let samples: [(String, [RESPValue])] = [
    ("+OK\r\n", [.simple("OK")]),
    ("-ERR no such key\r\n", [.error("ERR no such key")]),
    (":-12\r\n:9223372036854775807\r\n:-9223372036854775808\r\n", [-12, .max, .min].map(integer)),
    ("$5\r\nhel\r\n\r\n$0\r\n\r\n$-1\r\n", [bytes("hel\r\n"), bytes(""), .null]),
    (
      "_\r\n#t\r\n#f\r\n,1.5\r\n,-inf\r\n",
      [.null, .simple("t"), .simple("f"), .simple("1.5"), .simple("-inf")]
    ),
    (
      "(3492890328409238509324850943850943825024385\r\n",
      [.simple("3492890328409238509324850943850943825024385")]
    ),
    ("!9\r\nERR no go\r\n=8\r\ntxt:some\r\n", [.error("ERR no go"), bytes("some")]),
    (
      "*3\r\n:1\r\n*2\r\n+a\r\n$1\r\nb\r\n*0\r\n",
      [.array([integer(1), .array([.simple("a"), bytes("b")]), .array([])])]
    ),
    ("*-1\r\n~2\r\n:1\r\n:2\r\n", [.null, .array([integer(1), integer(2)])]),
    (
      "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n_\r\n",
      [.map([.simple("a"), integer(1), .simple("b"), .array([.null])])]
    ),
    (
      ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nfoo\r\n",
      [.push([bytes("invalidate"), .array([bytes("foo")])])]
    ),
    (
      "|1\r\n+ttl\r\n:9\r\n*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n",
      [.array([integer(1), integer(2)])]
    ),
  ]

  @Test func `every kind of value is parsed, divided at every place`() throws {
    for (text, values) in Self.samples {
      let bytes = Array(text.utf8)
      for place in 0...bytes.count {
        #expect(try parse([Array(bytes[..<place]), Array(bytes[place...])]) == values, "\(text)")
      }
    }
  }

  @Test func `all values are parsed byte by byte, and divided at any two places`() throws {
    let all = Array(Self.samples.map(\.0).joined().utf8)
    let values = Self.samples.flatMap(\.1)

    #expect(try parse(all.map { [$0] }) == values)
    for first in stride(from: 0, through: all.count, by: 3) {
      for second in stride(from: first, through: all.count, by: 7) {
        let pieces = [all[..<first], all[first..<second], all[second...]].map { Array($0) }
        #expect(try parse(pieces) == values)
      }
    }
  }

  @Test(arguments: [
    "?1\r\n", "\r\n", ":\r\n", ":1a\r\n", ":9223372036854775808\r\n", "$x\r\n", "$-2\r\n",
    "*9999999999999999999\r\n", "+a\rb\r\n", "$1\r\nabc\r\n", "_x\r\n",
    "*1\r\n>1\r\n+a\r\n", "$281474976710657\r\n",
  ])
  func `a malformed reply fails, and so does all that follows`(text: String) {
    var parser = RESPParser()
    parser.append(text)
    #expect(throws: RESPError.self) { while try parser.next() != nil {} }
    parser.append("+OK\r\n")

    #expect(throws: RESPError.self) { try parser.next() }
  }

  @Test func `lengths, nesting, elements, lines and totals are bounded`() {
    let limits = RESPLimits(lineLength: 10, stringLength: 20, depth: 2, elements: 5, bytes: 60)
    let texts = [
      "+12345678901", "+1234567890123\r\n", "$21\r\n", "*1\r\n*1\r\n*1\r\n", "*6\r\n",
      "%5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
      "*3\r\n$20\r\n01234567890123456789\r\n$20\r\n01234567890123456789\r\n$20\r\n",
      // A string that would be too much, before its bytes have come; and a line.
      "*4\r\n$20\r\n01234567890123456789\r\n+123456789\r\n$20\r\n",
      "*3\r\n$20\r\n01234567890123456789\r\n$20\r\n01234567890123456789\r\n+123456789\r\n",
    ]

    for text in texts {
      var parser = RESPParser(limits)
      parser.append(text)
      do {
        while try parser.next() != nil {}
        Issue.record("\(text) was accepted")
      } catch {
        guard case .beyondLimit = error else { Issue.record("\(text): \(error)"); continue }
      }
    }
  }

  @Test func `a reply within the limits is accepted again and again`() throws {
    var parser = RESPParser(
      RESPLimits(lineLength: 10, stringLength: 20, depth: 2, elements: 5, bytes: 60))
    for _ in 0..<100 {
      parser.append("*2\r\n$20\r\n01234567890123456789\r\n:1\r\n")
      #expect(try parser.next() == .array([bytes("01234567890123456789"), integer(1)]))
    }
  }

  @Test func `bytes are forgotten although a part of the next reply is always there`() throws {
    var parser = RESPParser()
    let (first, second) = ("$90000\r\n" + String(repeating: "a", count: 50_000), 40_000)
    parser.append(first)
    for _ in 0..<100 {
      parser.append(String(repeating: "a", count: second) + "\r\n" + first)
      #expect(try parser.next() == .bytes(Data(repeating: UInt8(ascii: "a"), count: 90_000)))
      #expect(try parser.next() == nil)
    }

    #expect(parser.heldBytes < 1 << 20)
  }

  /// A bounded fuzz run: damaged replies either parse or fail, and never trap or take memory.
  @Test func `random damage never does harm`() {
    let all = Array(Self.samples.map(\.0).joined().utf8)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<3_000 {
      var bytes = all
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: place)
        default:
          bytes.insert(
            contentsOf: Array("$*>%|!=0123456789\r\n".utf8.shuffled().prefix(3)), at: place)
        }
      }
      var parser = RESPParser()
      let cut = Int.random(in: 0...bytes.count, using: &generator)
      for piece in [bytes[..<cut], bytes[cut...]] {
        piece.withUnsafeBytes { parser.append($0) }
        do { while try parser.next() != nil {} } catch { break }
      }
    }
  }

  private func parse(_ pieces: [[UInt8]]) throws -> [RESPValue] {
    var parser = RESPParser()
    var values: [RESPValue] = []
    for piece in pieces {
      piece.withUnsafeBytes { parser.append($0) }
      while let value = try parser.next() { values.append(value) }
    }
    return values
  }
}

private func integer(_ number: Int64) -> RESPValue { .integer(number) }

private func bytes(_ text: String) -> RESPValue { .bytes(Data(text.utf8)) }

extension RESPParser {
  fileprivate mutating func append(_ text: String) {
    Array(text.utf8).withUnsafeBytes { append($0) }
  }
}
