extension Duration {
  /// A text of about three digits and a suitable unit: `212 ms`, `80 ns`, `40 s`.
  package var brief: String {
    let total = Double(attoseconds) / 1e18
    for (unit, size) in [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)] where abs(total) >= size {
      let amount = total / size
      return abs(amount) < 10 ? "\((amount * 10).rounded() / 10) \(unit)" : whole(amount, unit)
    }
    return whole(total * 1e9, "ns")
  }

  private func whole(_ amount: Double, _ unit: String) -> String {
    // The longest duration, when rounded, exceeds the range of its own type.
    let rounded = amount.rounded()
    return "\(Int64(exactly: rounded) ?? (rounded < 0 ? .min : .max)) \(unit)"
  }
}
