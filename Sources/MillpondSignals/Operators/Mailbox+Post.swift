extension Mailbox {
  /// Receives `message` now, or after the messages before it; and then those of other threads that
  /// waited meanwhile.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - replaces: Whether the second message makes the first, the last that waits, superfluous (as
  ///     newer progress does).
  ///   - receive: Receives a message.
  @inlinable
  package borrowing func post(
    _ message: Message,
    replaces: (Message, Message) -> Bool = { _, _ in false },
    receive: (Message) -> Void
  ) {
    if act(orPost: message, replaces: replaces, { receive(message) }) { drain(receive) }
  }
}
