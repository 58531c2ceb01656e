/// Sentences about ponds.
enum Phrases {
  /// Returns a short sentence of an opening, a subject and an ending.
  static func sentence(_ random: inout SeededRandom) -> String {
    let parts = [openings, matters, endings].map { $0[random.number(below: $0.count)] }
    return parts.joined(separator: " ")
  }

  private static let openings = [
    "I think", "Nobody told me that", "Last spring", "Honestly,", "As I said,", "It turns out",
    "My aunt swears", "To be fair,", "Once again", "Every evening",
  ]
  private static let matters = [
    "the sluice", "the old wheel", "the heron", "the water level", "the footbridge", "the miller",
    "the reed bed", "that rowing boat", "the overflow", "the carp",
  ]
  private static let endings = [
    "holds better than it looks.", "was back before breakfast.", "needs a coat of tar.",
    "is worth the walk.", "kept the whole village dry.", "makes more noise than it should.",
    "has seen worse winters.", "could do with a photograph.", "went unnoticed for years.",
    "deserves a better sign.",
  ]
}
