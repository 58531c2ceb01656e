/// A date in HTTP, with a resolution of a second.
///
/// - Source: RFC 9110 §5.6.7: one format for sending, and two older ones for parsing.
struct HTTPDate: Equatable {
  /// The seconds since the beginning of 1970.
  let seconds: Int

  /// Parses a date; nil if the text is none.
  ///
  /// No text traps.
  init?(_ text: String) {
    guard text.utf8.count <= 64 else { return nil }
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
    switch words.count {
    case 6: self.init(day: words[1], month: words[2], year: words[3], time: words[4])
    case 5: self.init(day: words[2], month: words[1], year: words[4], time: words[3])
    default: return nil
    }
  }

  /// Whether a last change at this time identifies one version: the answer was sent at least a
  /// minute later, which allows for two clocks at the origin.
  ///
  /// - Parameter seconds: The time at which the answer was sent, as ``seconds``.
  /// - Source: RFC 9110 §8.8.2.2.
  func isStrong(ofAnswerSentAt seconds: Int) -> Bool { seconds - self.seconds >= 60 }

  private init?(day: Substring, month: Substring, year: Substring, time: Substring) {
    let clock = time.split(separator: ":").map { Int(digits: $0) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      let day = Int(digits: day), let month = Self.months.firstIndex(of: month.lowercased()),
      let year = Self.year(year), (1...31).contains(day), hour < 24, minute < 60, second < 61
    else { return nil }
    let days = Self.days(year: year, month: month + 1, day: day)
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static func year(_ text: Substring) -> Int? {
    guard let year = Int(digits: text), text.count == 2 || text.count == 4 else { return nil }
    return text.count == 4 ? year : year + (year < 70 ? 2000 : 1900)
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

  fileprivate func floored(_ divisor: Int) -> Int {
    (self < 0 ? self - divisor + 1 : self) / divisor
  }
}
