/// Failures that tests can distinguish.
enum Trouble: Error, Equatable {
  case some
  case other
}
