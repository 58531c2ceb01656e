/// The state of a row in words.
struct RowText {
  let glyphs: Glyphs

  /// Returns the state in columns, so that rows can be compared.
  func aligned(_ state: RowState) -> String {
    switch state {
    case .loading(let completed, let total?) where total > 0:
      let percent = Int(min(max(Double(completed) / Double(total), 0), 1) * 100)
      return "\(percent) %".trailing(in: 7) + "  \(Amounts.bytes(completed))".trailing(in: 10)
        + " of \(Amounts.bytes(total))"
    case .loading(let completed, _):
      return "loading" + Amounts.bytes(completed).trailing(in: 10)
    case .done(let layer, let bytes, let time):
      // A longer name than usual moves the amounts of its line, and is not cut.
      let name = layer.harmless
      return name.fitted(to: max(7, name.columns)) + Amounts.bytes(bytes).trailing(in: 10)
        + Amounts.time(time, glyphs).trailing(in: 10)
    case .waiting, .cancelled, .failed: return sentence(state)
    }
  }

  /// Returns the state as a part of a sentence: `network answered, 45.2 kB in 212 ms`.
  func sentence(_ state: RowState) -> String {
    switch state {
    case .waiting: "waiting"
    case .loading: "loading"
    case .done(let layer, let bytes, let time):
      "\(layer.harmless) answered, \(Amounts.bytes(bytes)) in \(Amounts.time(time, glyphs))"
    case .cancelled(let reason): "cancelled: \(reason.harmless)"
    case .failed(let reason): "failed: \(reason.harmless)"
    }
  }
}
