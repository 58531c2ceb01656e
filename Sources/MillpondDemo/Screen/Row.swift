/// One line of the board: a fetch and its state.
struct Row: Equatable, Sendable {
  let label: String
  var state: RowState = .waiting
}
