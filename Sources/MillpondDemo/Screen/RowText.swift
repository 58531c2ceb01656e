/// Says in words how far a row is.
struct RowText {
  let glyphs: Glyphs

  /// In columns, so that rows below each other can be compared.
  func aligned(_ state: RowState) -> String {
    switch state {
    case .loading(let completed, let total?) where total > 0:
      let percent = Int(min(max(Double(completed) / Double(total), 0), 1) * 100)
      return "\(percent) %".trailing(in: 7) + "  \(Amounts.bytes(completed))".trailing(in: 10)
        + " of \(Amounts.bytes(total))"
    case .loading(let completed, _):
      return "loading" + Amounts.bytes(completed).trailing(in: 10)
    case .done(let layer, let bytes, let time):
      // A longer name than the usual ones moves its line's amounts rather than being cut.
      let name = layer.harmless
      return name.fitted(to: max(7, name.columns)) + Amounts.bytes(bytes).trailing(in: 10)
        + Amounts.time(time, glyphs).trailing(in: 10)
    case .waiting, .cancelled, .failed: return sentence(state)
    }
  }

  /// As part of a sentence: `network answered, 45.2 kB in 212 ms`.
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
