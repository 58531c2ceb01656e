/// The characters for bars and amounts.
struct Glyphs: Sendable {
  let solid: String
  let hollow: String
  let opening: String
  let closing: String
  let ellipsis: String
  let micro: String
  let rule: String

  static let unicode = Glyphs(
    solid: "█", hollow: "░", opening: "", closing: "", ellipsis: "…", micro: "µ",
    rule: "─")

  static let ascii = Glyphs(
    solid: "#", hollow: "-", opening: "[", closing: "]", ellipsis: "~", micro: "u",
    rule: "-")
}
