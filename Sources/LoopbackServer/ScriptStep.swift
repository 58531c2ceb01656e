/// One step of a scripted response.
public enum ScriptStep: Sendable {
  /// Sends these bytes as they are.
  case send([UInt8])
  /// Waits for this time.
  case wait(Duration)
  /// Waits until the hold is released.
  case hold(ResponseHold)
  /// Closes the connection in an orderly way.
  case close
  /// Closes the connection with a TCP reset.
  case reset

  /// Sends the text's UTF-8 bytes.
  public static func text(_ text: String) -> ScriptStep { .send(Array(text.utf8)) }
}
