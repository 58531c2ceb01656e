/// Values by prefixes, which are found by the texts that begin with them, byte by byte.
///
/// - Complexity: O(lengths of the prefixes) for a search, however many there are of each length.
struct PrefixTable<Value: Sendable>: Sendable {
  private var values: [[UInt8]: Value] = [:]

  /// The number of prefixes of each length.
  private var lengths: [Int: Int] = [:]

  var count: Int { values.count }

  /// All values, in any order.
  var elements: Dictionary<[UInt8], Value>.Values { values.values }

  /// The value of this prefix.
  subscript(prefix: String) -> Value? {
    get { values[Array(prefix.utf8)] }
    set {
      let former = values.updateOrRemove(newValue, for: Array(prefix.utf8))
      let change = (newValue == nil ? 0 : 1) - (former == nil ? 0 : 1)
      let length = prefix.utf8.count
      let count = lengths[length, default: 0] + change
      lengths[length] = count == 0 ? nil : count
    }
  }

  /// Returns the values of the prefixes with which a text begins, itself included.
  func matches(_ text: String) -> [Value] {
    if values.count < 4 {
      return values.filter { text.utf8.starts(with: $0.key) }.map(\.value)
    }
    let bytes = Array(text.utf8)
    return lengths.keys.compactMap { length in
      length <= bytes.count ? values[Array(bytes[..<length])] : nil
    }
  }
}

extension Dictionary {
  fileprivate mutating func updateOrRemove(_ value: Value?, for key: Key) -> Value? {
    if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
  }
}
