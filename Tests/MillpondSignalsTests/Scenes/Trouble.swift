/// A failure that tests can tell from another.
enum Trouble: Error, Equatable {
  case some
  case other
}
