import Foundation

exit(bench(CommandLine.arguments.dropFirst()))
