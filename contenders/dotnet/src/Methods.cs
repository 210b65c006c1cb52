using System.Linq;

/// <summary>
/// All methods of the contender, in the order of reports. What each does is in the class that lists
/// it.
/// </summary>
internal static class Methods
{
    internal static readonly Method[] All = LineMethods.All
        .Concat(TextMethods.All)
        .Concat(StreamMethods.All)
        .Concat(MappedMethods.All)
        .Concat(HandleMethods.All)
        .Concat(DecoderMethods.All)
        .Concat(FolderMethods.All)
        .ToArray();

    internal static Method Named(string name) =>
        All.FirstOrDefault(method => method.Name == name) ?? throw new Refusal($"there is no method '{name}'");
}
