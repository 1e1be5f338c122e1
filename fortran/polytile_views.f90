!> Views of a body as pointers with the arrays' own indices: `call polytile_view_get(views(1), A)`.
module polytile_views
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: polytile_range, polytile_domain, polytile_view, polytile_view_get
    public :: polytile_first, polytile_last, POLYTILE_MAX_DIMS

    !> The most dimensions of an array or a kernel.
    integer, parameter :: POLYTILE_MAX_DIMS = 8

    type, bind(C) :: polytile_range
        integer(c_int64_t) :: lo, hi, step
    end type

    !> A box of threads or elements. Its dimensions are in C's order: ask polytile_first() and
    !> polytile_last() for those of Fortran.
    type, bind(C) :: polytile_domain
        integer(c_int) :: n_dims = 0
        type(polytile_range) :: range(POLYTILE_MAX_DIMS)
    end type

    !> What a body is given of an array.
    type, bind(C) :: polytile_view
        type(c_ptr) :: origin
        integer(c_int64_t) :: stride_bytes(POLYTILE_MAX_DIMS)
        integer(c_int64_t) :: array_first(POLYTILE_MAX_DIMS)
        integer(c_int64_t) :: array_last(POLYTILE_MAX_DIMS)
        type(polytile_domain) :: resident
        integer(c_int32_t) :: first_piece, n_pieces
    end type

    !> Associate a pointer with what is resident of an array. Its bounds are the array's indices. The
    !> pointer has to have the array's type and rank: another rank ends the program.
    interface polytile_view_get
        subroutine polytile_view_f32_1(view, a) bind(C)
            import :: c_float, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_float), pointer, intent(out) :: a(:)
        end subroutine
        subroutine polytile_view_f32_2(view, a) bind(C)
            import :: c_float, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_float), pointer, intent(out) :: a(:, :)
        end subroutine
        subroutine polytile_view_f32_3(view, a) bind(C)
            import :: c_float, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_float), pointer, intent(out) :: a(:, :, :)
        end subroutine
        subroutine polytile_view_f32_4(view, a) bind(C)
            import :: c_float, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_float), pointer, intent(out) :: a(:, :, :, :)
        end subroutine
        subroutine polytile_view_f64_1(view, a) bind(C)
            import :: c_double, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_double), pointer, intent(out) :: a(:)
        end subroutine
        subroutine polytile_view_f64_2(view, a) bind(C)
            import :: c_double, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_double), pointer, intent(out) :: a(:, :)
        end subroutine
        subroutine polytile_view_f64_3(view, a) bind(C)
            import :: c_double, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_double), pointer, intent(out) :: a(:, :, :)
        end subroutine
        subroutine polytile_view_f64_4(view, a) bind(C)
            import :: c_double, polytile_view
            type(polytile_view), intent(in) :: view
            real(c_double), pointer, intent(out) :: a(:, :, :, :)
        end subroutine
        subroutine polytile_view_i32_1(view, a) bind(C)
            import :: c_int32_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int32_t), pointer, intent(out) :: a(:)
        end subroutine
        subroutine polytile_view_i32_2(view, a) bind(C)
            import :: c_int32_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int32_t), pointer, intent(out) :: a(:, :)
        end subroutine
        subroutine polytile_view_i32_3(view, a) bind(C)
            import :: c_int32_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int32_t), pointer, intent(out) :: a(:, :, :)
        end subroutine
        subroutine polytile_view_i32_4(view, a) bind(C)
            import :: c_int32_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int32_t), pointer, intent(out) :: a(:, :, :, :)
        end subroutine
        subroutine polytile_view_i64_1(view, a) bind(C)
            import :: c_int64_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int64_t), pointer, intent(out) :: a(:)
        end subroutine
        subroutine polytile_view_i64_2(view, a) bind(C)
            import :: c_int64_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int64_t), pointer, intent(out) :: a(:, :)
        end subroutine
        subroutine polytile_view_i64_3(view, a) bind(C)
            import :: c_int64_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int64_t), pointer, intent(out) :: a(:, :, :)
        end subroutine
        subroutine polytile_view_i64_4(view, a) bind(C)
            import :: c_int64_t, polytile_view
            type(polytile_view), intent(in) :: view
            integer(c_int64_t), pointer, intent(out) :: a(:, :, :, :)
        end subroutine
    end interface

    !> The first index of a box along a dimension of Fortran, counted from 1.
    interface polytile_first
        module procedure first_i32, first_i64
    end interface

    !> The last index of a box along a dimension of Fortran, counted from 1.
    interface polytile_last
        module procedure last_i32, last_i64
    end interface

contains

    pure function first_i32(box, dim) result(first)
        type(polytile_domain), intent(in) :: box
        integer(c_int32_t), intent(in) :: dim
        integer(c_int64_t) :: first
        first = box%range(box%n_dims + 1 - dim)%lo
    end function

    pure function first_i64(box, dim) result(first)
        type(polytile_domain), intent(in) :: box
        integer(c_int64_t), intent(in) :: dim
        integer(c_int64_t) :: first
        first = box%range(box%n_dims + 1 - dim)%lo
    end function

    pure function last_i32(box, dim) result(last)
        type(polytile_domain), intent(in) :: box
        integer(c_int32_t), intent(in) :: dim
        integer(c_int64_t) :: last
        last = box%range(box%n_dims + 1 - dim)%hi
    end function

    pure function last_i64(box, dim) result(last)
        type(polytile_domain), intent(in) :: box
        integer(c_int64_t), intent(in) :: dim
        integer(c_int64_t) :: last
        last = box%range(box%n_dims + 1 - dim)%hi
    end function
end module
