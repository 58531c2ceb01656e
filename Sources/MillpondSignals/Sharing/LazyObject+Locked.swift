extension LazyObject {
  /// Returns the object as a locked state, and makes it of `state` if there is none.
  @inlinable
  package borrowing func locked<State>(_ state: @autoclosure () -> State) -> Locked<State> {
    let object = object ?? storeIfNil(Locked(state()))
    return unsafeDowncast(object, to: Locked<State>.self)
  }
}
