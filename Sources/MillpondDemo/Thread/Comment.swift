/// One entry of a comment thread.
struct Comment: Equatable {
  /// The number of the comment in the thread, from 1.
  let number: Int
  let author: Author
  let text: String
}
