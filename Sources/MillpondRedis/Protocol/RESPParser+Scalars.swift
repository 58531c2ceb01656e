/// The values that are a line.
extension RESPParser {
  static func scalar(_ kind: UInt8, _ line: ArraySlice<UInt8>) throws(RESPError) -> RESPValue {
    switch kind {
    case UInt8(ascii: "+"), UInt8(ascii: "("), UInt8(ascii: ","), UInt8(ascii: "#"):
      return .simple(text(line))
    case UInt8(ascii: "-"): return .error(text(line))
    case UInt8(ascii: ":"): return .integer(try integer(line))
    case UInt8(ascii: "_"):
      guard line.isEmpty else { throw .malformed("a null") }
      return .null
    default: throw .unknownType(kind)
    }
  }

  /// Returns a length; nil for -1, the null of the protocol's former version.
  static func length(_ line: ArraySlice<UInt8>) throws(RESPError) -> Int? {
    let number = try integer(line)
    if number == -1 { return nil }
    // Twice the number still fits, and so does its sum with a position.
    guard number >= 0, number < 1 << 48 else { throw .malformed("a length") }
    return Int(number)
  }

  static func integer(_ line: ArraySlice<UInt8>) throws(RESPError) -> Int64 {
    let sign = line.first
    let isNegative = sign == UInt8(ascii: "-")
    let digits = isNegative || sign == UInt8(ascii: "+") ? line.dropFirst() : line
    guard !digits.isEmpty else { throw .malformed("a number") }
    var number: Int64 = 0
    for digit in digits {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else {
        throw .malformed("a number")
      }
      let (product, isBeyond) = number.multipliedReportingOverflow(by: 10)
      let next = Int64(digit - UInt8(ascii: "0"))
      let (sum, isFarther) =
        isNegative
        ? product.subtractingReportingOverflow(next) : product.addingReportingOverflow(next)
      if isBeyond || isFarther { throw .malformed("a number") }
      number = sum
    }
    return number
  }

  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line, as: UTF8.self)
  }
}
