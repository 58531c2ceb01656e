import Foundation

/// A key of the matrix, and the object that NSCache needs in its place.
protocol BenchKey: Hashable, Sendable {
  associatedtype Object: AnyObject

  /// Returns a key that is different for each number.
  static func numbered(_ number: Int) -> Self

  /// The same as an object.
  var object: Object { get }
}

/// The kind of keys that a row uses.
enum KeyKind: String, CaseIterable {
  case int
  case str
  case url

  var title: String {
    switch self {
    case .int: "Int keys"
    case .str: "String keys of 40 characters"
    case .url: "URL keys of 40 characters"
    }
  }
}

extension Int: BenchKey {
  static func numbered(_ number: Int) -> Int {
    number
  }

  var object: NSNumber {
    NSNumber(value: self)
  }
}

extension String: BenchKey {
  static func numbered(_ number: Int) -> String {
    Work.stringKey(number)
  }

  var object: NSString {
    NSString(string: self)
  }
}

extension URL: BenchKey {
  static func numbered(_ number: Int) -> URL {
    let text = Work.stringKey(number)
    return URL(string: text) ?? URL(filePath: text)
  }

  var object: NSURL {
    NSURL(string: absoluteString) ?? NSURL(fileURLWithPath: path())
  }
}
