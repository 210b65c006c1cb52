using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

/// <summary>
/// The messages of the protocol as lines of flat JSON, without their newline. It does not write
/// them.
/// </summary>
internal static class Say
{
    private const int Protocol = 1;
    private const string Version = "0.1.0";
    private const string Contender = "dotnet";

    internal static string Hello() =>
        Message("hello", Number("protocol", Protocol), Field("contender", Contender), Field("version", Version),
            Field("runtime", Receipt.Runtime));

    internal static string Method(Method method)
    {
        string scans = string.Join(",", method.Scans.Select(one => Quoted(one.Work.Word()) + ":" + List(one.Scans)));
        var fields = new List<string>
        {
            Field("method", method.Name),
            $"\"scans\":{{{scans}}}",
            $"\"params\":[{string.Join(",", method.Params.Select(Param))}]",
            Field("about", method.About),
            Field("cache", "through"),
            Field("reads", method.Reads),
        };
        AddIf(method.Parts, "\"parts\":true");
        AddIf(method.Lists, "\"lists\":true");
        AddIf(method.Decodes != null, $"\"decodes\":{List(method.Decodes ?? "")}");
        AddIf(method.Lack != null, Field("unavailable", method.Lack ?? ""));
        return Message("method", fields.ToArray());

        void AddIf(bool isSo, string field)
        {
            if (isSo)
            {
                fields.Add(field);
            }
        }
    }

    internal static string Ready(IEnumerable<Number> values) =>
        Message("ready", $"\"params\":{{{Numbers(values)}}}");

    internal static string Sample(Sample sample) =>
        Message("sample", Number("wall_ns", sample.WallNanos),
            Number("cpu_user_ns", sample.ProcessorTime.UserNanos),
            Number("cpu_system_ns", sample.ProcessorTime.SystemNanos), Numbers(sample.Answer.Numbers));

    internal static string Count(Count count) =>
        Message("count", Field("of", count.Of), Number("value", count.Value), Field("how", count.How));

    internal static string Done(long count) => Message("done", Number("count", count));

    internal static string Unavailable(string reason) => Message("unavailable", Field("reason", reason));

    internal static string Failed(string reason) => Message("failed", Field("reason", reason));

    private static string Message(string word, params string[] fields) =>
        $"{{{Field("say", word)},{string.Join(",", fields)}}}";

    private static string Param(Param param) =>
        $"{{{Field("name", param.Name)},{Number("default", param.Default)},{Number("min", param.Min)},"
        + $"{Number("max", param.Max)}}}";

    private static string List(params string[] words) => $"[{string.Join(",", words.Select(Quoted))}]";

    private static string Numbers(IEnumerable<Number> values) =>
        string.Join(",", values.Select(one => Number(one.Name, one.Value)));

    private static string Number(string name, long value) =>
        Quoted(name) + ":" + value.ToString(CultureInfo.InvariantCulture);

    private static string Field(string name, string value) => Quoted(name) + ":" + Quoted(value);

    private static string Quoted(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c == '"' || c == '\\')
            {
                quoted.Append('\\').Append(c);
            }
            else if (c < ' ')
            {
                quoted.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
            }
            else
            {
                quoted.Append(c);
            }
        }
        return quoted.Append('"').ToString();
    }
}
