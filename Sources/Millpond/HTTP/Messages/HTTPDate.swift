/// A date in HTTP, with a resolution of a second.
///
/// - Source: RFC 9110 §5.6.7: one format for sending, and two older ones for parsing; RFC 9111 §4.2:
///   for a cache, upper and lower case do not differ.
struct HTTPDate: Equatable {
  /// The seconds since the beginning of 1970.
  let seconds: Int

  /// The microseconds since the beginning of 1970; years have at most four digits.
  var microseconds: Int64 { Int64(seconds) * 1_000_000 }

  /// Parses a date; nil if the text is none.
  ///
  /// No text traps.
  ///
  /// - Parameters:
  ///   - text: The text, without spaces around it.
  ///   - now: The present time, to which a year of two digits is near.
  init?(_ text: String, now: @autoclosure () -> WallTime = .now) {
    guard text.utf8.count <= 64 else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    switch words.count {
    case 6 where words[0].utf8.last == UInt8(ascii: ","):  // Sun, 06 Nov 1994 08:49:37 GMT
      guard Self.isDay(words[0].dropLast(), ofLength: 3...3), words[5].isGMT,
        let year = Int(digits: words[3], count: 4)
      else { return nil }
      self.init(day: Int(digits: words[1], count: 2), month: words[2], year, time: words[4])
    case 4 where words[0].utf8.last == UInt8(ascii: ","):  // Sunday, 06-Nov-94 08:49:37 GMT
      let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard Self.isDay(words[0].dropLast(), ofLength: 6...9), words[3].isGMT, parts.count == 3,
        let year = Int(digits: parts[2], count: 2)
      else { return nil }
      self.init(
        day: Int(digits: parts[0], count: 2), month: parts[1], Self.year(year, near: now()),
        time: words[2])
    case 5, 6:  // Sun Nov  6 08:49:37 1994
      let day = words.count == 5 ? Int(digits: words[2], count: 2) : Int(digits: words[3], count: 1)
      guard Self.isDay(words[0], ofLength: 3...3), words.count == 5 || words[2].isEmpty,
        let year = Int(digits: words[words.count - 1], count: 4)
      else { return nil }
      self.init(day: day, month: words[1], year, time: words[words.count - 2])
    default: return nil
    }
  }

  /// Whether a last change at this time identifies one version: the answer was sent at least a
  /// minute later, which allows for two clocks at the origin.
  ///
  /// - Parameter seconds: The time at which the answer was sent, as ``seconds``.
  /// - Source: RFC 9110 §8.8.2.2.
  func isStrong(ofAnswerSentAt seconds: Int) -> Bool { seconds - self.seconds >= 60 }

  private init?(day: Int?, month: Substring, _ year: Int, time: Substring) {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
      .map { Int(digits: $0, count: 2) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      hour < 24, minute < 60, second < 61, let day, day >= 1,
      let month = Self.months.firstIndex(of: month.lowercased()).map({ $0 + 1 })
    else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    let next = Self.days(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
    if days >= next { return nil }
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static let weekdays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// Whether this is a day of the week, as a whole or the first three letters.
  private static func isDay(_ text: Substring, ofLength length: ClosedRange<Int>) -> Bool {
    guard length.contains(text.utf8.count) else { return false }
    let name = text.lowercased()
    return weekdays.contains { length.upperBound == 3 ? $0.prefix(3) == name : $0 == name }
  }

  /// Returns the year with these last two digits: of this century, but not more than 50 years ahead.
  private static func year(_ digits: Int, near now: WallTime) -> Int {
    let present = 1_970 + Int(now.microseconds / 31_556_952_000_000)
    let year = present - present % 100 + digits
    return year > present + 50 ? year - 100 : year
  }

  /// Returns the days since the beginning of 1970; years begin in March here, so that a leap day is
  /// the last day of a year.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month < 3 ? year - 1 : year
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return year * 365 + year.floored(4) - year.floored(100) + year.floored(400) + dayOfYear
      - 719_468
  }
}

extension Int {
  /// Creates a number from ASCII digits only; nil for anything else.
  init?(digits: Substring) {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    self.init(digits)
  }

  /// Creates a number from exactly so many ASCII digits.
  fileprivate init?(digits: Substring, count: Int) {
    guard digits.utf8.count == count else { return nil }
    self.init(digits: digits)
  }

  fileprivate func floored(_ divisor: Int) -> Int {
    (self < 0 ? self - divisor + 1 : self) / divisor
  }
}

extension Substring {
  /// Whether this is the name of the only time zone of HTTP.
  fileprivate var isGMT: Bool { lowercased() == "gmt" }
}
