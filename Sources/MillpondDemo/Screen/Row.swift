/// One line of the board: what is fetched, and how far that is.
struct Row: Equatable, Sendable {
  let label: String
  var state: RowState = .waiting
}
