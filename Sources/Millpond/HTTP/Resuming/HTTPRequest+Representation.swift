extension HTTPRequest {
  /// The name under which the first bytes of the answer are kept: the resource, and every field that
  /// may choose among its representations.
  ///
  /// All fields count, since not every origin names in `Vary` what its answer depends on. They are
  /// hashed, because the name is written to disk, and a field may be secret.
  var representation: String {
    let fields = headers.fields.map { (name: $0.name.lowercased(), value: $0.value) }
      .filter { !Self.neutralFields.contains($0.name) }
    if fields.isEmpty { return identity }
    let lines = fields.enumerated()
      // Repeated fields keep their order.
      .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
      .map { "\($0.element.name):\($0.element.value)\n" }
    var text = lines.joined()
    let sums = text.withUTF8 { bytes in
      (3...4).map { String(FoldHash.hash(UnsafeRawBufferPointer(bytes), seed: $0), radix: 16) }
    }
    return "\(identity) \(sums.joined(separator: "-"))"
  }

  /// Whether ranges of the answer may be asked for: not if the request asks for one of its own.
  var canBeResumed: Bool {
    headers["Range"] == nil
  }

  /// Fields that choose no representation.
  private static let neutralFields: Set<String> = ["cache-control", "pragma"]
}
